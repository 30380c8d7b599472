/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the words of tables and screens mean. */
#ifndef KRP_KRPING_WORDS_H
#define KRP_KRPING_WORDS_H

#include <stdio.h>

#include "optable.h"

/* Prints each meaning of a word, of which case does not matter; returns how many there are. */
unsigned int krp_words_explain(FILE *f, const char *text, unsigned int width);
/* Prints "; near it: " and the words and options whose beginnings have most in common with text, or nothing. */
void krp_words_near(FILE *f, const char *text, const struct krp_optable *options);

#endif /* KRP_KRPING_WORDS_H */
