/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KRPING_CLASSIC_H
#define KRPING_CLASSIC_H

struct krping_record;

void krping_classic_log(const struct krping_record *rec);

#endif /* KRPING_CLASSIC_H */
