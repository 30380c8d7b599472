/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What module/command.c, module/agree.c and module/pattern.c need of the kernel, for the host: the
 * files themselves are built as they are. Each function here does what the kernel's does.
 */
#ifndef KRP_FUZZ_SHIM_KERNEL_H
#define KRP_FUZZ_SHIM_KERNEL_H

#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <linux/types.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

/* The message is optional there. */
#define static_assert(condition) _Static_assert(condition, #condition)
#define __packed	  __attribute__((packed))
#define __printf(a, b)	  __attribute__((format(printf, a, b)))
#define READ_ONCE(x)	  (*(const volatile __typeof__(x) *)&(x))
#define barrier()	  __asm__ __volatile__("" : : : "memory")
#define likely(x)	  (x)
#define min(a, b)	  ((a) < (b) ? (a) : (b))
#define max(a, b)	  ((a) > (b) ? (a) : (b))
#define ARRAY_SIZE(a)	  (sizeof(a) / sizeof((a)[0]))
#define BIT(nr)		  (1UL << (nr))
#define BIT_ULL(nr)	  (1ULL << (nr))
#define U32_MAX		  UINT32_MAX
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))

#define cpu_to_be16(v) htobe16(v)
#define cpu_to_be32(v) htobe32(v)
#define cpu_to_be64(v) htobe64(v)
#define be16_to_cpu(v) be16toh(v)
#define be32_to_cpu(v) be32toh(v)
#define be64_to_cpu(v) be64toh(v)

/* snprintf() tells how much it wanted to write, this how much it has written. */
static inline int scnprintf(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(buf, size, format, args);
	va_end(args);
	return n < 0 || !size ? 0 : (size_t)n < size ? n : (int)size - 1;
}

/* A plus before the number and a newline behind it are allowed; nothing else is. */
static inline int kstrtou32(const char *s, unsigned int base, u32 *value)
{
	unsigned long long v;
	char *end;

	s += *s == '+';
	/* strtoull() also takes blanks and signs. */
	if (!isxdigit(*s))
		return -EINVAL;
	v = strtoull(s, &end, base);
	end += *end == '\n';
	if (*end)
		return -EINVAL;
	if (v > UINT32_MAX)
		return -ERANGE;
	*value = v;
	return 0;
}

#endif /* KRP_FUZZ_SHIM_KERNEL_H */
