/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The value of a digit, for the parsers of numbers and addresses. Pure C.
 */
#ifndef KRPING_DIGIT_H
#define KRPING_DIGIT_H

/* 16 and more: no digit. */
static inline unsigned int krping_digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

#endif /* KRPING_DIGIT_H */
