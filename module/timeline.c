// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Time lines, see timeline.h. The functions below cost each ping of a run that is watched. */
#include <linux/compiler.h>
#include "krping_trace.h"
#include "record.h"
#include "timeline.h"

static_assert(KRPING_WORD_STEP >= KRPING_NR_PHASES);
static_assert(KRPING_SEG_STAGE(~0ULL) >= KRPING_NR_STAGES - 1);

/* clang-format off */
/*
 * While an event goes it is still raised, without all that it wants: its generation is even. And an
 * event is enabled some time after it was turned on, and has no words until then.
 */
#define krping_line_gen(line, event, which, whole)			\
do {									\
	u32 _gen = 0;							\
									\
	if (trace_krping_##event##_enabled() && (whole))		\
		_gen = READ_ONCE(krping_line_gens[which]);		\
	(line)->gen[which] = _gen % 2 ? _gen : 0;			\
} while (0)
/* clang-format on */

void krping_line_begin(struct krping_line *line, const struct krping_record *rec, u64 iter, u64 now,
		       bool whole)
{
	unsigned int i;

	line->t = now;
	line->iter = iter;
	line->t_iter = 0;
	line->moved = rec->moved;
	line->sum = 0;
	krping_line_gen(line, iter, KRPING_LINE_ITER, whole);
	krping_line_gen(line, iter_phases, KRPING_LINE_PHASES, whole);
	krping_line_gen(line, iter_stages, KRPING_LINE_STAGES, whole);
	krping_line_gen(line, iter_memory, KRPING_LINE_MEMORY, whole);
	for (i = 0; i < KRPING_NR_LINE_WORDS; i++)
		line->words[i].nr = 0;
}

/* The event has only a part if it was turned on, or off and on, since the line began. */
static u32 krping_line_part(const struct krping_line *line, enum krping_line_event event)
{
	return line->gen[event] == READ_ONCE(krping_line_gens[event]) ? 0 : KRPING_PHASE_F_PART;
}

/* The bytes that the iteration has moved, as krping_result counts them. */
static u64 krping_line_bytes(const struct krping_line *line, const struct krping_record *rec,
			     u32 flags)
{
	if (!(flags & KRPING_PHASE_F_COMMIT))
		return 0;
	return rec->moved ? rec->moved - line->moved : (u64)rec->moves * rec->params.size;
}

/* clang-format off */
/* A macro, since each event has a function of its own. */
#define krping_tell_words(event, which)					\
do {									\
	if (trace_krping_##event##_enabled()) {				\
		const struct krping_words *_words = &line->words[which]; \
		u32 _part = krping_line_part(line, which);		\
									\
		krping_trace(event, rec->id, now, line->iter,		\
			     flags | _part, line->t,			\
			     _part ? 0 : _words->nr, _words->word,	\
			     ++line->told[which]);			\
	}								\
} while (0)
/* clang-format on */

void krping_line_end(struct krping_line *line, const struct krping_record *rec, u32 flags, u64 now)
{
	krping_tell_words(iter_phases, KRPING_LINE_PHASES);
	krping_tell_words(iter_stages, KRPING_LINE_STAGES);
	krping_tell_words(iter_memory, KRPING_LINE_MEMORY);
	krping_trace(iter, rec->id, now, line->iter,
		     flags | krping_line_part(line, KRPING_LINE_ITER), line->t_iter ?: line->t,
		     krping_line_bytes(line, rec, flags));
}

void krping_line_more(struct krping_line *line, const struct krping_record *rec)
{
	struct krping_words *words = &line->words[KRPING_LINE_MEMORY];

	if (trace_krping_iter_memory_enabled() && !krping_line_part(line, KRPING_LINE_MEMORY))
		krping_trace(iter_memory, rec->id, line->t, line->iter, KRPING_ITER_F_MORE, line->t,
			     words->nr, words->word, ++line->told[KRPING_LINE_MEMORY]);
	words->nr = 0;
}
