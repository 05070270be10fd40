/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What perf.data says about itself: header, attrs, event ids, features; or the same by records of a stream. */
#include "perfdata.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "lib/modules.h"
#include "perfdata_events.h"

/* tools/perf/util/header.h: struct perf_file_header and the feature bits. */
enum {
	/* magic, size, attr_size u64; attrs, data, event_types {offset, size}; 256 feature bits */
	FILE_HEADER = 104,
	PIPE_HEADER = 16,
	ATTR_SIZE_MIN = 64,	/* PERF_ATTR_SIZE_VER0 */
	MAX_SECTION = 1 << 26,	/* of attrs, ids, or one feature that we read: far above what perf writes */
};
enum {
	FEAT_BUILD_ID = 2, FEAT_HOSTNAME = 3, FEAT_OSRELEASE = 4, FEAT_ARCH = 6, FEAT_EVENT_DESC = 12,
	FEAT_DIR_FORMAT = 24, FEAT_LAST = 256,
};

struct section {
	uint64_t off, size;
};

struct file {
	int fd;
	uint64_t size;
	struct perfdata *d;
	const char *lost;	/* the first part found missing, NULL: none */
};

static bool is_magic(const char *head, bool *swap)
{
	uint64_t magic;

	memcpy(&magic, head, 8);
	/* "PERFILE2" read as a little-endian u64; a big-endian recorder stores its bytes the other way round. */
	*swap = magic == __builtin_bswap64(0x32454c4946524550u);
	return *swap || magic == 0x32454c4946524550u;
}

bool perfdata_probe(const char *head, size_t len)
{
	bool swap;

	return len >= 8 && (is_magic(head, &swap) || !memcmp(head, "PERFFILE", 8));
}

uint64_t perfdata_end(int fd, bool swap)
{
	enum { DATA = 40, FLAGS = 72, PAIR = 16 };
	unsigned char h[FILE_HEADER], pair[PAIR];
	uint64_t nr = 0;

	if (pread(fd, h, FILE_HEADER, 0) != FILE_HEADER || perfdata_u64(h + 8, swap) != FILE_HEADER)
		return 0;
	for (int i = FLAGS; i < FILE_HEADER; i++)
		nr += (unsigned int)__builtin_popcount(h[i]);
	uint64_t table = perfdata_u64(h + DATA, swap) + perfdata_u64(h + DATA + 8, swap);
	uint64_t end = table + nr * PAIR;
	for (uint64_t at = table; nr--; at += PAIR) {
		if (pread(fd, pair, PAIR, (off_t)at) != PAIR)
			return 0;
		uint64_t stop = perfdata_u64(pair, swap) + perfdata_u64(pair + 8, swap);
		end = stop > end ? stop : end;
	}
	return end;
}

bool perfdata_at(int fd, uint64_t off)
{
	char magic[8];

	return off && pread(fd, magic, sizeof(magic), (off_t)off) == sizeof(magic) &&
	       perfdata_probe(magic, sizeof(magic));
}

void perfdata_release(struct perfdata *d)
{
	for (uint32_t i = 0; i < d->nr_attrs; i++)
		free(d->attrs[i].name);
	free(d->attrs);
	free(d->id_attr);
	index_release(&d->ids);
	index_release(&d->modules);
	free(d->module_ids);
	free(d->hostname);
	free(d->release);
	free(d->arch);
	memset(d, 0, sizeof(*d));
}

/* A section whole, the caller frees; NULL when it is out of the file or absurd. */
static unsigned char *load(const struct file *f, struct section s)
{
	if (s.off > f->size || s.size > f->size - s.off || s.size > MAX_SECTION)
		return NULL;
	unsigned char *buf = xmalloc(s.size);
	size_t got = 0;

	while (got < s.size) {
		ssize_t n = pread(f->fd, buf + got, s.size - got, (off_t)(s.off + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(buf);
			return NULL;
		}
		got += (size_t)n;
	}
	return buf;
}

static struct section get_section(const unsigned char *p, bool swap)
{
	return (struct section){ perfdata_u64(p, swap), perfdata_u64(p + 8, swap) };
}

/* An attr of avail bytes, as long as its own size says; fields beyond either are 0. */
static void add_attr(struct perfdata *d, const unsigned char *p, size_t avail)
{
	unsigned char full[128] = { 0 };
	uint32_t size = perfdata_u32(p + 4, d->swap);

	if (!size)
		size = ATTR_SIZE_MIN;
	if (size > avail)
		size = (uint32_t)avail;
	memcpy(full, p, size < sizeof(full) ? size : sizeof(full));
	ALLOC_GROW(d->attrs, d->nr_attrs + 1, d->alloc_attrs);
	struct perfdata_attr *a = &d->attrs[d->nr_attrs++];
	*a = (struct perfdata_attr){
		.type = perfdata_u32(full, d->swap),
		.config = perfdata_u64(full + 8, d->swap),
		.sample_type = perfdata_u64(full + 24, d->swap),
		.read_format = perfdata_u64(full + 32, d->swap),
		.branch_sample_type = perfdata_u64(full + 72, d->swap),
		.regs_user = perfdata_u64(full + 80, d->swap),
		.regs_intr = perfdata_u64(full + 96, d->swap),
	};
	a->name = perfdata_event_name(a->type, a->config);
}

/* Ids of the last attr; nr of them at p. */
static void add_ids(struct perfdata *d, const unsigned char *p, size_t nr)
{
	d->last_attr = 0;
	for (size_t i = 0; i < nr; i++) {
		uint64_t id = perfdata_u64(p + 8 * i, d->swap);
		uint32_t x = index_add(&d->ids, &id, sizeof(id));

		ALLOC_GROW(d->id_attr, x + 1, d->alloc_id_attr);
		d->id_attr[x] = d->nr_attrs - 1;
	}
}

struct perfdata_attr *perfdata_find_id(struct perfdata *d, uint64_t id)
{
	uint32_t x = index_find(&d->ids, &id, sizeof(id));

	return x == INDEX_NONE ? NULL : &d->attrs[d->id_attr[x]];
}

static int read_attrs(struct file *f, struct section attrs, uint64_t each)
{
	struct perfdata *d = f->d;

	if (each < ATTR_SIZE_MIN + 16 || each > 4096 || attrs.size % each)
		return error("cannot read '%s': its attr size %llu is not one of perf's", d->name,
			     (unsigned long long)each);
	unsigned char *buf = load(f, attrs);
	if (!buf)
		return error("cannot read '%s': its event attributes are truncated", d->name);
	int ret = 0;
	for (uint64_t at = 0; at < attrs.size && !ret; at += each) {
		struct section ids = get_section(buf + at + each - 16, d->swap);
		unsigned char *p = load(f, ids);

		if (!p) {
			ret = error("cannot read '%s': its event ids are truncated", d->name);
			break;
		}
		add_attr(d, buf + at, each - 16);
		add_ids(d, p, ids.size / 8);
		free(p);
	}
	free(buf);
	return ret;
}

/* u32 length, then that many bytes with the string; *used says how many. NULL when malformed. */
static char *get_string(const unsigned char *p, size_t size, bool swap, size_t *used)
{
	if (size < 4)
		return NULL;
	uint32_t len = perfdata_u32(p, swap);
	if (len > size - 4)
		return NULL;
	*used = 4 + (size_t)len;
	return xstrndup((const char *)p + 4, len);
}

/* Modules end in .ko, perhaps compressed, or stand in brackets. */
bool perfdata_is_kernel_name(const char *name)
{
	if (!strncmp(name, "[kernel", 7))
		return true;
	return name[0] != '[' && !strstr(name, ".ko");
}

static void set_build_id(struct perfdata *d, const unsigned char *id, uint32_t size)
{
	memcpy(d->build_id, id, size);
	d->build_id_size = size;
}

static void set_module_build_id(struct perfdata *d, const char *filename, const unsigned char *id,
				uint32_t size)
{
	char name[256];

	/* "[kernel.kallsyms]", "[guest.kernel...", "[vdso]" are none. */
	if (filename[0] == '[' ? filename[1] && strchr("kgv", filename[1]) : !strstr(filename, ".ko"))
		return;
	module_name_of(filename, name, sizeof(name));
	uint32_t i = index_add_str(&d->modules, name);
	ALLOC_GROW(d->module_ids, i + 1, d->alloc_module_ids);
	memcpy(d->module_ids[i].id, id, size);
	d->module_ids[i].size = size;
}

const unsigned char *perfdata_module_build_id(const struct perfdata *d, const char *module, uint32_t *size)
{
	uint32_t i = index_find_str(&d->modules, module);

	if (i == INDEX_NONE)
		return NULL;
	*size = d->module_ids[i].size;
	return d->module_ids[i].id;
}

/* {header, pid s32, build-id 20 bytes, its size u8, 3 bytes, file name} ... */
static bool add_build_id(struct perfdata *d, uint16_t misc, const unsigned char *body, size_t size)
{
	enum { BUILD_ID_SIZED = 1 << 15, FIXED = 28 };

	if (size <= FIXED || !memchr(body + FIXED, 0, size - FIXED))
		return false;
	const char *name = (const char *)body + FIXED;
	if ((misc & PERFDATA_CPUMODE_MASK) != PERFDATA_CPUMODE_KERNEL)
		return true;
	uint32_t n = misc & BUILD_ID_SIZED ? body[24] : 20;
	if (n > 20)
		return false;
	if (perfdata_is_kernel_name(name))
		set_build_id(d, body + 4, n);
	else
		set_module_build_id(d, name, body + 4, n);
	return true;
}

static bool read_build_ids(struct perfdata *d, const unsigned char *p, size_t size)
{
	while (size >= 8) {
		uint16_t n = perfdata_u16(p + 6, d->swap);

		if (n < 8 || n > size || !add_build_id(d, perfdata_u16(p + 4, d->swap), p + 8, n - (size_t)8))
			return false;
		p += n;
		size -= n;
	}
	return true;
}

/* u32 events, u32 attr size; each: attr, u32 ids, string name, ids u64. Events stand in the order of the attrs. */
static bool read_event_desc(struct perfdata *d, const unsigned char *p, size_t size)
{
	if (size < 8)
		return false;
	uint32_t nr = perfdata_u32(p, d->swap);
	uint32_t attr_size = perfdata_u32(p + 4, d->swap);
	p += 8;
	size -= 8;
	for (uint32_t i = 0; i < nr; i++) {
		size_t used;

		if (attr_size > size || size - attr_size < 4)
			return false;
		uint64_t ids = perfdata_u32(p + attr_size, d->swap);
		p += attr_size + (size_t)4;
		size -= attr_size + (size_t)4;
		char *name = get_string(p, size, d->swap, &used);
		if (!name)
			return false;
		if (i < d->nr_attrs && *name) {
			free(d->attrs[i].name);
			d->attrs[i].name = name;
		} else {
			free(name);
		}
		if (ids * 8 > size - used)
			return false;
		p += used + ids * 8;
		size -= used + (size_t)ids * 8;
	}
	return true;
}

static bool set_string(char **to, const unsigned char *p, size_t size, bool swap)
{
	size_t used;
	char *s = get_string(p, size, swap, &used);

	if (!s)
		return false;
	free(*to);
	*to = s;
	return true;
}

static bool add_feature(struct perfdata *d, uint64_t feat, const unsigned char *p, size_t size)
{
	switch (feat) {
	case FEAT_BUILD_ID:
		return read_build_ids(d, p, size);
	case FEAT_HOSTNAME:
		return set_string(&d->hostname, p, size, d->swap);
	case FEAT_OSRELEASE:
		return set_string(&d->release, p, size, d->swap);
	case FEAT_ARCH:
		return set_string(&d->arch, p, size, d->swap);
	case FEAT_EVENT_DESC:
		return read_event_desc(d, p, size);
	case FEAT_DIR_FORMAT:
		d->is_dir = true;
		return true;
	default:
		return true;
	}
}

static bool feature_read(uint64_t feat)
{
	return feat == FEAT_BUILD_ID || feat == FEAT_HOSTNAME || feat == FEAT_OSRELEASE || feat == FEAT_ARCH ||
	       feat == FEAT_EVENT_DESC || feat == FEAT_DIR_FORMAT;
}

/* The 256 bits as u64s in the recorder's byte order. */
static bool has_feature(const unsigned char *bits, uint64_t feat, bool swap)
{
	return perfdata_u64(bits + feat / 64 * 8, swap) >> feat % 64 & 1;
}

/*
 * They are the recorder's unsigned longs: where those have 32 bits and the big end
 * first, each u64 has its halves exchanged. Every recorder sets the host name's bit,
 * so that one tells.
 */
static void order_features(unsigned char *bits, bool swap)
{
	unsigned char half[4];

	if (has_feature(bits, FEAT_HOSTNAME, swap) || !has_feature(bits, FEAT_HOSTNAME + 32, swap))
		return;
	for (unsigned char *p = bits; p < bits + FEAT_LAST / 8; p += 8) {
		memcpy(half, p, 4);
		memcpy(p, p + 4, 4);
		memcpy(p + 4, half, 4);
	}
}

/* The table behind the records: one section for each bit. */
static void read_features(struct file *f, unsigned char *bits)
{
	struct perfdata *d = f->d;
	struct section table = { d->data_off + d->data_size, 0 };

	order_features(bits, d->swap);
	for (uint64_t feat = 0; feat < FEAT_LAST; feat++)
		table.size += has_feature(bits, feat, d->swap) ? 16 : 0;
	unsigned char *entries = load(f, table);
	if (!entries) {
		f->lost = "its feature sections";
		return;
	}
	const unsigned char *p = entries;
	for (uint64_t feat = 0; feat < FEAT_LAST; feat++) {
		if (!has_feature(bits, feat, d->swap))
			continue;
		struct section s = get_section(p, d->swap);
		p += 16;
		if (s.off > f->size || s.size > f->size - s.off) {
			f->lost = "its feature sections";
			continue;
		}
		if (!feature_read(feat))
			continue;
		unsigned char *buf = load(f, s);
		if (!buf || !add_feature(d, feat, buf, s.size))
			f->lost = "a feature section";
		free(buf);
	}
	free(entries);
}

static int read_header(struct file *f, unsigned char *h)
{
	struct perfdata *d = f->d;

	if (!is_magic((const char *)h, &d->swap))	/* PERFFILE: the attr size tells the byte order */
		d->swap = perfdata_u64(h + 16, false) > UINT32_MAX;
	uint64_t size = perfdata_u64(h + 8, d->swap);
	if (size == PIPE_HEADER) {
		d->pipe = true;
		d->data_off = PIPE_HEADER;
		d->data_size = f->size - PIPE_HEADER;
		return 0;
	}
	if (size < FILE_HEADER)
		return error("cannot read '%s': its header size %llu is not perf's", d->name,
			     (unsigned long long)size);
	if (f->size < FILE_HEADER)
		return error("cannot read '%s': its header is truncated", d->name);
	struct section data = get_section(h + 40, d->swap);
	if (read_attrs(f, get_section(h + 24, d->swap), perfdata_u64(h + 16, d->swap)) < 0)
		return -1;
	d->data_off = data.off;
	d->data_size = data.size;
	if (data.off > f->size)
		return error("cannot read '%s': truncated before its first record", d->name);
	if (data.size > f->size - data.off || !data.size) {
		f->lost = data.size ? "part of its records" : "its end: perf record did not finish it";
		d->data_size = f->size - data.off;
		return 0;
	}
	read_features(f, h + 72);
	return 0;
}

int perfdata_open(struct perfdata *d, int fd, uint64_t size, const char *name, bool force)
{
	struct file f = { fd, size, d, NULL };
	unsigned char h[FILE_HEADER] = { 0 };

	memset(d, 0, sizeof(*d));
	d->name = name;
	unsigned char *p = load(&f, (struct section){ 0, size < FILE_HEADER ? size : FILE_HEADER });
	if (!p || size < PIPE_HEADER) {
		free(p);
		return error("cannot read '%s': its header is truncated", name);
	}
	memcpy(h, p, size < FILE_HEADER ? size : FILE_HEADER);
	free(p);
	if (read_header(&f, h) < 0)
		return -1;
	if (f.lost && !force)
		return error("cannot read '%s': truncated, it lacks %s (--force uses what is there)", name, f.lost);
	if (f.lost)
		warn("'%s' is truncated: it lacks %s", name, f.lost);
	return 0;
}

/* EVENT_UPDATE: u64 kind, u64 id; kind 2 is a name. */
static bool update_event(struct perfdata *d, const struct perfdata_record *rec)
{
	enum { EVENT_UPDATE_NAME = 2 };

	if (rec->size < 16)
		return false;
	struct perfdata_attr *a = perfdata_find_id(d, perfdata_u64(rec->body + 8, d->swap));
	if (!a || perfdata_u64(rec->body, d->swap) != EVENT_UPDATE_NAME || rec->size == 16)
		return true;
	free(a->name);
	a->name = xstrndup((const char *)rec->body + 16, rec->size - 16);
	return true;
}

static bool tell_attr(struct perfdata *d, const struct perfdata_record *rec)
{
	if (rec->size < ATTR_SIZE_MIN)
		return false;
	uint32_t size = perfdata_u32(rec->body + 4, d->swap);
	if (!size)
		size = ATTR_SIZE_MIN;
	if (size < ATTR_SIZE_MIN || size > rec->size)
		return false;
	add_attr(d, rec->body, rec->size);
	add_ids(d, rec->body + size, (rec->size - size) / 8);
	return true;
}

bool perfdata_tell(struct perfdata *d, const struct perfdata_record *rec)
{
	switch (rec->type) {
	case PERFDATA_ATTR:
		return !d->pipe || tell_attr(d, rec);
	case PERFDATA_FEATURE:
		return rec->size >= 8 &&
		       add_feature(d, perfdata_u64(rec->body, d->swap), rec->body + 8, rec->size - 8);
	case PERFDATA_EVENT_UPDATE:
		return update_event(d, rec);
	case PERFDATA_BUILD_ID:
		return add_build_id(d, rec->misc, rec->body, rec->size);
	default:
		return true;
	}
}
