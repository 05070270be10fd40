#!/usr/bin/perl
# SPDX-License-Identifier: GPL-3.0-or-later
# elfpoke.pl FILE WHERE=VALUE...: damages a little-endian ELF file of 64 bits where it stands. WHERE is
#   e_FIELD			of the ELF header
#   SECTION.sh_FIELD		of a section's header, by its name, or by #NUMBER
#   SECTION+OFFSET.SIZE		so many bytes (1, 2, 4, 8) within a section
# VALUE is a number: decimal, 0x or 0, a minus before it.
use strict;
use warnings;
no warnings 'portable';

my %ehdr = (e_type => [16, "v"], e_machine => [18, "v"], e_shoff => [40, "Q<"], e_shnum => [60, "v"], e_shstrndx => [62, "v"]);
my %shdr = (sh_name => [0, "V"], sh_type => [4, "V"], sh_flags => [8, "Q<"], sh_addr => [16, "Q<"], sh_offset => [24, "Q<"],
	sh_size => [32, "Q<"], sh_link => [40, "V"], sh_addralign => [48, "Q<"], sh_entsize => [56, "Q<"]);
my %size = (1 => "C", 2 => "v", 4 => "V", 8 => "Q<");

my $file = shift;
open my $in, "<:raw", $file or die "$file: $!\n";
my $elf = do { local $/; <$in> };
my ($shoff, $shnum, $shstrndx) = unpack "x40 Q< x12 v v", $elf;
my $strings = unpack "Q<", substr $elf, $shoff + 64 * $shstrndx + 24;

sub header
{
	my $name = shift;
	return $shoff + 64 * $1 if $name =~ /^#(\d+)$/;
	for my $i (0 .. $shnum - 1) {
		my $at = $shoff + 64 * $i;
		return $at if unpack("Z*", substr $elf, $strings + unpack("V", substr $elf, $at)) eq $name;
	}
	die "$file has no $name\n";
}

sub number
{
	my $value = shift;
	die "what is $value?\n" if $value !~ /^-?(0x[0-9a-f]+|0[0-7]*|[1-9]\d*)$/i;
	my ($minus, $digits) = $value =~ /^(-?)(.*)$/;
	my $n = $digits =~ /^0/ ? oct $digits : $digits;
	return $minus ? -$n : $n;
}

# Every place is found before anything is changed.
my @pokes;
for (@ARGV) {
	my ($where, $value) = /^(.*?)=(.*)$/ or die "what is $_?\n";
	my ($at, $form);
	if ($ehdr{$where}) {
		($at, $form) = @{$ehdr{$where}};
	} elsif ($where =~ /^(.*)\.(sh_\w+)$/) {
		($at, $form) = @{$shdr{$2} or die "no field $2\n"};
		$at += header($1);
	} elsif ($where =~ /^(.*)\+(\w+)\.(\d)$/) {
		$form = $size{$3};
		$at = unpack("Q<", substr $elf, header($1) + 24) + ($2 =~ /^0x/ ? hex $2 : $2);
	} else {
		die "what is $where?\n";
	}
	push @pokes, [$at, pack $form, number($value)];
}
substr $elf, $_->[0], length $_->[1], $_->[1] for @pokes;
open my $out, ">:raw", $file or die "$file: $!\n";
print $out $elf;
close $out or die "$file: $!\n";
