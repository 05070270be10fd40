/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "completion.h"

#include <string.h>

#include "opt.h"

static void put_options(const struct command *cmd, FILE *fp)
{
	for (const struct opt *o = cmd->opts; o && o->kind != OPT_END; o++) {
		if (o->letter)
			fprintf(fp, "-%c ", o->letter);
		fprintf(fp, "--%s ", o->name);
	}
}

/* "-m|--machine)" for the option's value. */
static void put_value_case(const struct opt *o, const char *words, FILE *fp)
{
	fputs("\t\t", fp);
	if (o->letter)
		fprintf(fp, "-%c|", o->letter);
	fprintf(fp, "--%s) words=\"%s\"; return ;;\n", o->name, words);
}

static const char *values_of(const struct completion_values *values, const char *option)
{
	for (; values->option; values++)
		if (!strcmp(values->option, option))
			return values->words;
	return "";	/* a file, which bash itself completes, or a number */
}

static void put_command(const struct command *cmd, const struct completion_values *values, FILE *fp)
{
	fprintf(fp, "\t\"%s\")\n\t\tcase $2 in\n", cmd->name);
	for (const struct opt *o = cmd->opts; o && o->kind != OPT_END; o++)
		if (o->arg)
			put_value_case(o, values_of(values, o->name), fp);
	fputs("\t\tesac\n\t\twords=\"", fp);
	put_options(cmd, fp);
	if (!cmd->opts)
		fputs("-h --help ", fp);
	for (const struct command *const *part = cmd->parts; part && *part; part++)
		fprintf(fp, "%s ", strchr((*part)->name, ' ') + 1);
	fputs("\" ;;\n", fp);
}

void completion_write(const struct command *const *commands, size_t nr, const struct completion_values *values, FILE *fp)
{
	fputs("# SPDX-License-Identifier: GPL-3.0-or-later\n"
	      "# bash completion, made from hottext's option tables by `hottext --completion`\n\n"
	      "# _hottext_words COMMAND PREVIOUS: what may follow, in $words; nothing: a file\n"
	      "_hottext_words()\n{\n\tcase $1 in\n\t\"\") words=\"", fp);
	for (size_t i = 0; i < nr; i++)
		fprintf(fp, "%s ", commands[i]->name);
	fputs("-h --help -V --version\" ;;\n", fp);
	for (size_t i = 0; i < nr; i++) {
		put_command(commands[i], values, fp);
		for (const struct command *const *part = commands[i]->parts; part && *part; part++)
			put_command(*part, values, fp);
	}
	fputs("\tesac\n}\n\n"
	      "_hottext()\n{\n"
	      "\tlocal words='' command='' current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i\n"
	      "\tCOMPREPLY=()\n"
	      "\t# What follows -- belongs to another program.\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do [ \"${COMP_WORDS[i]}\" != -- ] || return 0; done\n"
	      "\t[ \"$COMP_CWORD\" -lt 2 ] || command=${COMP_WORDS[1]}\n"
	      "\tcase \"$command ${COMP_WORDS[2]-}\" in\n", fp);
	for (size_t i = 0; i < nr; i++)
		for (const struct command *const *part = commands[i]->parts; part && *part; part++)
			fprintf(fp, "\t\"%s\") [ \"$COMP_CWORD\" -lt 3 ] || command=\"%s\" ;;\n", (*part)->name, (*part)->name);
	fputs("\tesac\n"
	      "\t_hottext_words \"$command\" \"$previous\"\n"
	      "\t# Options only where one is begun, so that file names come first.\n"
	      "\tif [[ $words == *--help* && $current != -* ]]; then\n"
	      "\t\tlocal all=$words word\n"
	      "\t\twords=\n"
	      "\t\tfor word in $all; do [[ $word == -* ]] || words+=\"$word \"; done\n"
	      "\tfi\n"
	      "\t[ -z \"${words// /}\" ] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
	      "}\n\n"
	      "complete -o default -F _hottext hottext\n", fp);
}

static void list_command(const struct command *cmd, FILE *fp)
{
	fprintf(fp, "%s\t-\t-\t-\n", cmd->name);
	for (const struct opt *o = cmd->opts; o && o->kind != OPT_END; o++)
		fprintf(fp, "%s\t%c\t%s\t%s\n", cmd->name, o->letter ? o->letter : '-', o->name, o->arg ? o->arg : "-");
}

void completion_list_options(const struct command *const *commands, size_t nr, FILE *fp)
{
	for (size_t i = 0; i < nr; i++) {
		list_command(commands[i], fp);
		for (const struct command *const *part = commands[i]->parts; part && *part; part++)
			list_command(*part, fp);
	}
}
