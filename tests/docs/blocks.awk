# SPDX-License-Identifier: GPL-3.0-or-later
# Literal blocks of a document: "@LINE LANGUAGE" and then its lines, each with a tab in front.
# Of Markdown: fenced and indented blocks. Of a manual page: .Dl and .Bd -literal within EXAMPLES.

function begin(language) { printf "@%d %s\n", FNR, language; open = 1 }
function unescape(s)
{
	sub(/^\\&/, "", s)
	gsub(/\\e/, "\\", s)
	gsub(/\\\(dq/, "\"", s)
	gsub(/\\-/, "-", s)
	return s
}

FILENAME ~ /\.[15]$/ {
	if (/^\.Sh /) examples = /^\.Sh EXAMPLES/
	else if (!examples) next
	else if (/^\.Bd/) { begin("-"); literal = 1 }
	else if (/^\.Ed/) literal = 0
	else if (literal) print "\t" unescape($0)
	else if (/^\.Dl /) { begin("-"); print "\t" unescape(substr($0, 5)) }
	next
}

/^```/ {
	if (fenced) fenced = 0
	else { fenced = 1; begin(length($0) > 3 ? substr($0, 4) : "-") }
	blank = 0
	next
}
fenced { print "\t" $0; next }
/^    / && (blank || indented) {
	if (!indented) begin("-")
	indented = 1
	print "\t" substr($0, 5)
	next
}
/^[ \t]*$/ { if (indented) hold++; blank = 1; next }
{ indented = 0; blank = 0 }
