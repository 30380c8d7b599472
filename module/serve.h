/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A server of several clients. */
#ifndef KRPING_SERVE_H
#define KRPING_SERVE_H

struct krping_run;

void krping_serve(struct krping_run *run);

#endif /* KRPING_SERVE_H */
