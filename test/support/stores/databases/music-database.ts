import Database from 'libsql'
import type { SqliteDatabase } from '../../../../lib/sql/sqlite/index.js'

/** A database of a music shop, with the awkward tables that databases have. */
export const MUSIC = `
  CREATE TABLE Artist (ArtistId INTEGER NOT NULL PRIMARY KEY, Name NVARCHAR(120));
  CREATE TABLE Album (
    AlbumId INTEGER NOT NULL PRIMARY KEY,
    Title NVARCHAR(160) NOT NULL,
    ArtistId INTEGER NOT NULL REFERENCES Artist (ArtistId)
  );
  CREATE TABLE InvoiceLine (
    InvoiceLineId INTEGER NOT NULL PRIMARY KEY,
    UnitPrice NUMERIC(10,2) NOT NULL,
    Quantity INTEGER NOT NULL CHECK (Quantity >= 1),
    SoldAt DATETIME
  );
  CREATE TABLE PlaylistTrack (PlaylistId INTEGER NOT NULL, TrackId INTEGER NOT NULL, PRIMARY KEY (PlaylistId, TrackId));
  CREATE TABLE EMPLOYEES (
    EMPLOYEE_ID INTEGER PRIMARY KEY,
    FIRST_NAME TEXT,
    BOSS INTEGER REFERENCES EMPLOYEES,
    REPORTS_TO INTEGER REFERENCES EMPLOYEES
  );
  CREATE TABLE "order" (id INTEGER PRIMARY KEY, "from" TEXT, "group" INTEGER, cover BLOB);
  CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT);
  CREATE TABLE log (at TEXT, line TEXT);
  CREATE VIEW long_titles AS SELECT AlbumId, Title FROM Album WHERE length(Title) > 10;
  CREATE VIEW broken AS SELECT missing FROM missing_table;
  INSERT INTO Artist VALUES (1, 'AC/DC'), (2, 'Accept');
  INSERT INTO Album VALUES (1, 'For Those About To Rock', 1), (2, 'Balls', 2);
  INSERT INTO InvoiceLine VALUES (1, 0.99, 1, '2009-01-01 00:00:00');
  INSERT INTO PlaylistTrack VALUES (1, 1), (1, 5);
  INSERT INTO EMPLOYEES VALUES (1, 'Ann', NULL, NULL), (2, 'Bob', 1, 1);
  INSERT INTO "order" VALUES (1, 'me', 3, x'00ff');
  INSERT INTO settings VALUES ('a/b', 'x');
  INSERT INTO log VALUES ('2020', 'started');`

export type OpenDatabase = SqliteDatabase & { close (): unknown }

/** Opens a database in memory, or makes a file, and runs SQL in it. */
export function makeDatabase (sql: string, path = ':memory:'): OpenDatabase {
  const database = new Database(path)
  database.exec(sql)
  return database as unknown as OpenDatabase
}
