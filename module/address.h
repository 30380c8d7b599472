/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An IPv4 or IPv6 address, and its text. Pure C: these two files are built into
 * the module and, for tests, on the host.
 */
#ifndef KRPING_ADDRESS_H
#define KRPING_ADDRESS_H

#include <linux/types.h>

#define KRPING_SCOPE_SIZE 16 /* as the name of an interface, with its NUL */

/**
 * struct krping_address - an address
 * @family: AF_INET or AF_INET6; 0: there is none
 * @bytes: the address, network order; of IPv4 the first four
 * @scope: IPv6, link-local: name or number of an interface; else empty. What
 *	it means depends on a network namespace, see krping_cm_addr().
 */
struct krping_address {
	__u16 family;
	__u8 bytes[16];
	char scope[KRPING_SCOPE_SIZE];
};

const char *krping_address_ipv4(const char *s, size_t len,
				struct krping_address *address);
const char *krping_address_ipv6(const char *s, size_t len,
				struct krping_address *address);
int krping_address_is_any(const struct krping_address *address);

#endif /* KRPING_ADDRESS_H */
