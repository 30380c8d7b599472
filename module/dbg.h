/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The running commentary that the module parameter debug=1 turns on, and checks of callers. */
#ifndef KRPING_DBG_H
#define KRPING_DBG_H

#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/printk.h>
#include <linux/types.h>

extern bool krping_debug;

/* clang-format off */
#define krping_dbg(id, fmt, ...)					\
do {									\
	if (unlikely(READ_ONCE(krping_debug)))			\
		pr_info("%u: " fmt "\n", id, ##__VA_ARGS__);		\
} while (0)

/* What a caller has to keep to; only a kernel that checks its own locking looks. */
#define KRPING_CHECK(cond)						\
	WARN_ON_ONCE(IS_ENABLED(CONFIG_PROVE_LOCKING) && !(cond))
/* clang-format on */

#endif /* KRPING_DBG_H */
