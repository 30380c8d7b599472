/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The debug build's runs that break their connection and go on with another.
 */
#ifndef KRPING_RENEW_H
#define KRPING_RENEW_H

struct krping_run;

#ifdef KRPING_DEBUG
void krping_renew_begin(struct krping_run *run);
int krping_renew(struct krping_run *run);
#else
static inline void krping_renew_begin(struct krping_run *run)
{
}

static inline int krping_renew(struct krping_run *run)
{
	return 0;
}
#endif

#endif /* KRPING_RENEW_H */
