/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#define div_u64_rem(n, by, rest) ((*(rest) = (n) % (by)), (n) / (by))
