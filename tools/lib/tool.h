/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What all tools have in common: options, messages, the checks before the
 * start, signals and the clock that they tick by, and exit codes.
 */
#ifndef KRP_LIB_TOOL_H
#define KRP_LIB_TOOL_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "by.h"
#include "die.h"
#include "out.h"
#include "runs.h"

#ifndef KRP_VERSION
#define KRP_VERSION "0.1.0"
#endif

/* A directory with an entry for each RDMA device. */
#define KRP_RDMA_DEVICES "/sys/class/infiniband"

enum krp_exit {
	KRP_EXIT_OK,
	KRP_EXIT_ENV,	 /* usage or environment */
	KRP_EXIT_BROKEN, /* an invariant does not hold */
};

struct krp_opts {
	double interval;     /* seconds; 0: none */
	unsigned long count; /* intervals; 0: no end */
	double duration;     /* seconds; 0: no end */
	bool total;	     /* at each interval, show all since the start */
	bool json, stamp, verbose, until_done, histograms, split;
	const char *input; /* a recording, which is shown instead of what goes on; NULL: none */
	enum krp_by by;	   /* runs are summed up by this */
	/* 0: not given. */
	uint32_t max_runs;
	uint32_t records; /* KiB of the ring */
	/* Filters; 0 and NULL: all. */
	uint32_t run, qp;
	const char *dev, *test, *role, *name;
};

/* Options that not all tools have. */
#define KRP_HAS_INTERVAL   0x01
#define KRP_HAS_MAX_RUNS   0x02
#define KRP_HAS_RECORDS	   0x04
#define KRP_HAS_BY	   0x08
#define KRP_HAS_HISTOGRAMS 0x10
#define KRP_HAS_SPLIT	   0x20
#define KRP_HAS_INPUT	   0x40
#define KRP_HAS_FILTERS	   0x80
#define KRP_HAS_VIEW \
	(KRP_HAS_INTERVAL | KRP_HAS_MAX_RUNS | KRP_HAS_RECORDS | KRP_HAS_INPUT | KRP_HAS_FILTERS)

/* Room for so many runs, unless --max-runs says something else. */
#define KRP_MAX_RUNS 512

struct krp_tool {
	const char *name;
	/* Set before krp_tool_init(). args_doc is what arguments are called; NULL: INTERVAL and COUNT. */
	unsigned int has; /* KRP_HAS_* */
	const char *args_doc;
	struct krp_opts opts;
	enum krp_exit status; /* what is known of it before the output is written that tells why */
	/* Gives the terminal back before a last message; NULL: the terminal was not taken. */
	void (*give_back)(void);
	/* Text of one display, until krp_show(). */
	FILE *text;
	char *text_buf;
	size_t text_size;
};

/* The tool that runs; the library prints its messages in the name of this tool. */
extern struct krp_tool krp_tool;

/* What a program does first: closed standard streams, checked output, what --version says. */
void krp_tool_begin(const char *name);
/*
 * Does that, and parses the command line. own holds the options of the tool itself, may be
 * NULL, and is a child of the common ones. Where the tool has --input and no
 * recording is given, this ends with krp_preflight() and krp_check_filter().
 */
void krp_tool_init(int argc, char **argv, const char *name, const char *doc,
		   const struct argp *own);

/* For the parsers of options. Exits if arg is not such a number. */
unsigned long krp_arg_number(const char *what, const char *arg, unsigned long min,
			     unsigned long max);

/* Opens /dev/null for a standard stream that is closed; to be called before any other file is opened. */
void krp_open_closed_streams(void);
/* A message on one line, as JSON with -j. */
void krp_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * For krp_check_stdout(): one line on stderr with the errno's name, and KRP_EXIT_ENV. But who reads no more, as head(1), has all
 * that was wanted: that is no error.
 */
void krp_write_failed(int err) __attribute__((noreturn));
/* To stderr; krp_verbose() with -v only, krp_note() not with -j. */
void krp_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void krp_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Unless all is there that a tool needs, dies and tells what is missing and what to do. */
void krp_preflight(void);

/* false if a filter excludes the run. The filter for the run number is not looked at. */
bool krp_filter(const struct krp_run_info *info);
/* Has the user asked for the run: by its number, if he has given one, and by the filters? */
bool krp_shows(uint32_t run, const struct krp_run_info *info);
bool krp_has_filter(void);
/*
 * With --run or --until-done: true if all runs that were to be watched have
 * ended. seen and ended are the numbers of runs that the tool has seen, and has
 * seen end.
 */
bool krp_all_done(unsigned long seen, unsigned long ended);
/*
 * true if there is no run yet that --run names, or no device that --dev names;
 * text then says so.
 */
bool krp_absent(char *text, size_t size);
/* With --run: dies if that run has ended before it could be watched. Notes what is absent. */
void krp_check_filter(void);

/*
 * Text of a display goes to the returned file, and is printed by krp_show(): below what was printed before, or, on a terminal,
 * over what the last call has drawn, and then no more of it than the terminal has lines.
 */
FILE *krp_text(void);
void krp_show(bool redraw);

enum krp_wake {
	KRP_WAKE_POLL, /* a good time to look for runs that have ended */
	KRP_WAKE_FD,   /* there is something to read */
	KRP_WAKE_TICK, /* an interval is over: print */
	KRP_WAKE_STOP, /* a signal, or the end of the last interval */
};

/*
 * From here on krp_wait_fd() returns for INT, TERM and HUP. The first signal
 * stops, a second one kills, as krp_next_signal_kills() has it. Time runs from
 * the first krp_wait_fd().
 */
void krp_start(void);
/*
 * Returns after this time at the latest, or when fd can be read; -1: there is no
 * fd. With an fd it also returns after a signal that the tool itself handles.
 */
enum krp_wake krp_wait_fd(int fd, double seconds);

#endif /* KRP_LIB_TOOL_H */
