/**
 * The statements of SQLite databases as they exist: a music shop, and tables with every awkward property. Each text may
 * contain several statements.
 */

/** A shop in the style of sample databases: names in mixed case, natural and composite keys, no versions. */
export const SHOP = `
CREATE TABLE [Artist] (
  [ArtistId] INTEGER NOT NULL,
  [Name] NVARCHAR(120),
  CONSTRAINT [PK_Artist] PRIMARY KEY ([ArtistId])
);
CREATE TABLE [Album] (
  [AlbumId] INTEGER NOT NULL,
  [Title] NVARCHAR(160) NOT NULL,
  [ArtistId] INTEGER NOT NULL,
  CONSTRAINT [PK_Album] PRIMARY KEY ([AlbumId]),
  FOREIGN KEY ([ArtistId]) REFERENCES [artist] ([ArtistId]) ON DELETE NO ACTION
);
CREATE TABLE [Track] (
  [TrackId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  [Name] NVARCHAR(200) NOT NULL,
  [AlbumId] INTEGER REFERENCES [Album],
  [Milliseconds] INTEGER NOT NULL CHECK ([Milliseconds] > 0),
  [Bytes] BIGINT,
  [UnitPrice] NUMERIC(10,2) NOT NULL
);
CREATE TABLE [Playlist] ([PlaylistId] INTEGER NOT NULL PRIMARY KEY, [Name] NVARCHAR(120));
CREATE TABLE [PlaylistTrack] (
  [PlaylistId] INTEGER NOT NULL,
  [TrackId] INTEGER NOT NULL,
  CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY ([PlaylistId], [TrackId]),
  FOREIGN KEY ([PlaylistId]) REFERENCES [Playlist] ([PlaylistId]),
  FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId])
);
CREATE TABLE [Employee] (
  [EmployeeId] INTEGER NOT NULL PRIMARY KEY,
  [LastName] NVARCHAR(20) NOT NULL,
  [ReportsTo] INTEGER REFERENCES [Employee] ([EmployeeId]),
  [BirthDate] DATETIME,
  [HireDate] DATE
);
CREATE VIEW [AlbumLength] AS
  SELECT [Album].[AlbumId], [Title], sum([Milliseconds]) AS [Total]
  FROM [Album] JOIN [Track] USING ([AlbumId])
  GROUP BY 1;
INSERT INTO [Artist] VALUES (1, 'AC/DC'), (2, 'Accept'), (3, 'Antônio Carlos Jobim');
INSERT INTO [Album] VALUES (1, 'For Those About To Rock', 1), (2, 'Balls to the Wall', 2);
INSERT INTO [Track] VALUES
  (1, 'For Those About To Rock', 1, 343719, 11170334, 0.99),
  (2, 'Balls to the Wall', 2, 342562, 5510424, 1.5);
INSERT INTO [Playlist] VALUES (1, 'Music'), (5, '90’s Music');
INSERT INTO [PlaylistTrack] VALUES (1, 1), (1, 2), (5, 1);
INSERT INTO [Employee] VALUES
  (1, 'Adams', NULL, '1962-02-18 00:00:00', '2002-08-14'),
  (2, 'Edwards', 1, '1958-12-08 00:00:00', '2002-05-01');
`

/** Columns of every declared type, with values that fit. */
export const TYPES = `
CREATE TABLE types (
  id INTEGER PRIMARY KEY,
  whole INTEGER, small SMALLINT, big BIGINT, huge INTEGER, real_number REAL, float_number DOUBLE PRECISION,
  price NUMERIC(10,2), amount DECIMAL(20,4), free NUMERIC, cents DECIMAL(18),
  flag BOOLEAN, note TEXT, code CHAR(3), title VARCHAR(10), long_title VARCHAR(3),
  day DATE, odd_day DATE, moment DATETIME, local_moment DATETIME, spaced_moment TIMESTAMP, epoch DATETIME, clock TIME,
  file BLOB, text_file BLOB, document JSON, broken_document JSON, token UUID, untyped, untyped_number, unusual GEOMETRY
);
INSERT INTO types VALUES (
  1, 5, 6, 9007199254740993, 9007199254740993, 0.5, 1.25, 12.5, 1234.5678, 1e20, 123456789012345678,
  1, 'Ünïcode', 'ABC', 'ten chars!', 'longer than three', '2026-01-31', '31.1.2026',
  '2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5', '2026-01-31 12:00:00', 1769860800, '12:00:00',
  x'00ff', 'a text', '{"a":[1]}', '{', '0190a4f4-7e5b-7cc1-b2a3-0123456789ab', 'a text', 5, 'POINT(1 2)'
);
INSERT INTO types (id) VALUES (2);
CREATE TABLE empty_types (
  id INTEGER PRIMARY KEY,
  day DATE, moment DATETIME, made DATETIME DEFAULT CURRENT_TIMESTAMP, short_moment SMALLDATETIME,
  cost DECIMAL(4,2) NOT NULL DEFAULT 4.5, large_cost DECIMAL(4,2) DEFAULT 100, fine_cost DECIMAL(4,2) DEFAULT 0.125,
  free_cost DECIMAL DEFAULT 1.25, far_cost DECIMAL DEFAULT 1e30, text_cost DECIMAL DEFAULT 'none',
  since TIMESTAMP NOT NULL DEFAULT '2026-01-31 12:00' CHECK (length(since) > 9),
  file BLOB, flag BOOLEAN, untyped
);
CREATE TABLE made_moments (id INTEGER PRIMARY KEY, made DATETIME DEFAULT CURRENT_TIMESTAMP);
INSERT INTO made_moments VALUES (1, '2026-01-31T12:00:00Z');
CREATE TABLE strict_types (id INTEGER PRIMARY KEY, whole INT NOT NULL, note TEXT, anything ANY, file BLOB) STRICT;
`

/** Columns that contain values of other types than they declare. */
export const MIXTURES = `
CREATE TABLE mixtures (
  id INTEGER PRIMARY KEY, whole INTEGER, flag BOOLEAN, price DECIMAL(10,2), note TEXT, day DATE, anything
);
INSERT INTO mixtures VALUES
  (1, 1, 0, 1.5, 'a', '2026-01-31', 1),
  (2, 'two', 2, 'free', x'00', 20260131, 'one'),
  (3, 1.5, 1, 1.005, 'b', NULL, 2.5);
CREATE TABLE only_mixture (whole INTEGER);
INSERT INTO only_mixture VALUES (1), ('two');
CREATE TABLE late_mixture (id INTEGER PRIMARY KEY, whole INTEGER NOT NULL);
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
  INSERT INTO late_mixture SELECT n, n FROM numbers;
UPDATE late_mixture SET whole = 'the last' WHERE id = 5000;
`

/** Tables and views of every kind, and every kind of key. */
export const KINDS = `
CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL);
CREATE TABLE other_name (number INTEGER PRIMARY KEY, id TEXT);
CREATE TABLE backwards (id INTEGER PRIMARY KEY DESC, name TEXT);
CREATE TABLE countries (id CHAR(2) PRIMARY KEY NOT NULL, name TEXT NOT NULL);
CREATE TABLE nullable_key (code TEXT PRIMARY KEY, name TEXT);
CREATE TABLE nullable_pair (a TEXT, b INTEGER NOT NULL, name TEXT, PRIMARY KEY (a, b));
CREATE TABLE null_key (a TEXT, b INTEGER, name TEXT, PRIMARY KEY (a, b));
INSERT INTO null_key VALUES ('x', 1, 'full'), ('x', NULL, 'first'), ('x', NULL, 'second');
CREATE TABLE profiles (user_id INTEGER PRIMARY KEY REFERENCES counted (id), bio TEXT);
CREATE TABLE logs (message TEXT, level INTEGER);
CREATE TABLE hidden_logs (rowid TEXT, _rowid_ TEXT);
CREATE TABLE no_row_name (rowid TEXT, _rowid_ TEXT, oid BLOB);
CREATE TABLE unique_only (email TEXT NOT NULL UNIQUE, name TEXT UNIQUE);
CREATE UNIQUE INDEX unique_expression ON unique_only (lower(email));
CREATE TABLE unique_number (loose BIGINT UNIQUE, number BIGINT NOT NULL UNIQUE, name TEXT);
CREATE TABLE number_notes (
  id INTEGER PRIMARY KEY,
  number BIGINT REFERENCES unique_number (number),
  loose BIGINT REFERENCES unique_number (loose),
  code TEXT REFERENCES loose_codes (code)
);
CREATE TABLE loose_codes (code TEXT UNIQUE);
CREATE TABLE clustered (tenant TEXT, number INTEGER, name TEXT, PRIMARY KEY (tenant, number)) WITHOUT ROWID;
CREATE TABLE clustered_number (number INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID;
CREATE TABLE blob_key (hash BLOB PRIMARY KEY, name TEXT);
CREATE TABLE generated (
  id INTEGER PRIMARY KEY,
  price REAL NOT NULL,
  tax REAL AS (price * 0.2),
  total REAL GENERATED ALWAYS AS (price * 1.2) STORED NOT NULL
);
CREATE TABLE only_generated (id INTEGER PRIMARY KEY, one INTEGER AS (1));
CREATE TABLE groups (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT, d BLOB, UNIQUE (a, b));
CREATE UNIQUE INDEX groups_partial ON groups (c) WHERE a IS NOT NULL;
CREATE UNIQUE INDEX groups_expression ON groups (lower(c));
CREATE UNIQUE INDEX groups_blob ON groups (d);
CREATE UNIQUE INDEX groups_c ON groups (c, a);
CREATE VIEW named AS SELECT id, name, name || '!' AS loud FROM counted;
CREATE VIEW writable_view AS SELECT name FROM counted;
CREATE TRIGGER writable_view_insert INSTEAD OF INSERT ON writable_view
  BEGIN INSERT INTO counted (name) VALUES (NEW.name); END;
CREATE VIEW blobs AS SELECT x'00' AS file;
CREATE VIEW broken AS SELECT missing FROM counted;
CREATE VIRTUAL TABLE search USING fts5 (title, body);
INSERT INTO counted VALUES (1, 'a'), (2, 'b');
INSERT INTO logs VALUES ('started', 1), ('stopped', 1);
INSERT INTO search VALUES ('Green', 'Tea');
`

/** Versions, references, and names of every kind. */
export const NAMES = `
CREATE TABLE versioned (id INTEGER PRIMARY KEY, name TEXT, version INTEGER NOT NULL DEFAULT 1);
CREATE TABLE locked (id INTEGER PRIMARY KEY, name TEXT, lock_version INTEGER NOT NULL);
CREATE TABLE document_versions (
  id INTEGER PRIMARY KEY, document_id INTEGER NOT NULL, version INTEGER NOT NULL, UNIQUE (document_id, version)
);
CREATE TABLE text_version (id INTEGER PRIMARY KEY, version TEXT NOT NULL);
CREATE TABLE "select" (
  id INTEGER PRIMARY KEY,
  "order" TEXT, "first name" TEXT, first_name TEXT, "2nd" TEXT, "a:b" TEXT, "Größe" TEXT, "quo""te" TEXT, "😀" TEXT,
  "id:1" TEXT, [sq[uare] TEXT, "__proto__" TEXT
);
CREATE TABLE orphans (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES nowhere (id));
CREATE TABLE mismatched (id INTEGER PRIMARY KEY, name TEXT REFERENCES versioned (name));
CREATE TABLE to_unique (id INTEGER PRIMARY KEY, code TEXT REFERENCES coded (code));
CREATE TABLE coded (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
CREATE TABLE pairs (a INTEGER, b BIGINT, PRIMARY KEY (a, b));
CREATE TABLE pair_notes (
  id INTEGER PRIMARY KEY, a INTEGER, b BIGINT, big BIGINT, FOREIGN KEY (a, b) REFERENCES pairs (a, b)
);
CREATE TABLE wide (id INTEGER PRIMARY KEY, ${Array.from({ length: 400 }, (_, index) =>
  `column_${index + 1} DATE`).join(', ')});
INSERT INTO wide (id, column_1, column_400) VALUES (1, '2026-01-31', 'never');
`

/** Constraints in many spellings. The comments, quotes and brackets of the statement must not confuse a reader. */
export const CHECKS = `
CREATE TABLE checks (
  id INTEGER PRIMARY KEY, -- a comment with CHECK (whole > 99) and a quote '
  whole INTEGER NOT NULL CONSTRAINT whole_bounds CHECK (whole >= 0 AND whole <= 10), /* another, with ( */
  above REAL CHECK (above > -1.5), reversed INTEGER CHECK (5 < reversed),
  ranged INTEGER CHECK (ranged BETWEEN 1 AND 0x10),
  status TEXT DEFAULT 'draft' NOT NULL CHECK (status IN ('draft', 'it''s (sent)')),
  either TEXT CHECK (either = 'x' OR either = 'y' OR either IS NULL),
  code TEXT CHECK (length(code) = 3), short TEXT CHECK (length(short) <= 5 AND short <> ''),
  loose TEXT COLLATE NOCASE CHECK (loose IN ('a', 'b')),
  binary TEXT COLLATE BINARY CHECK (binary IN ('a', 'b')),
  price DECIMAL(10,2) DEFAULT 0.5 CHECK (price >= 0),
  rating INTEGER DEFAULT 3 CHECK (rating IN (1, 2, 3)),
  "odd name" INTEGER DEFAULT -1 CHECK ("odd name" < 100),
  flag BOOLEAN DEFAULT TRUE CHECK (flag IN (0, 1)),
  made TEXT DEFAULT (lower('A')), greeting VARCHAR(9) DEFAULT 'Hello', wrong VARCHAR(3) DEFAULT 'Hello',
  wrong_type TEXT DEFAULT 5, ratio REAL DEFAULT 0.5,
  CHECK (above < 100 AND (ranged >= 2)), CONSTRAINT pair CHECK (whole < ranged), UNIQUE (code)
);
`
