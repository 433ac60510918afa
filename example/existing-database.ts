// A database file that another program has made, to browse and to edit.
//
//   npm run example example/existing-database.ts    then open http://localhost:3000/artists
import Database from 'libsql'
import fastify from 'fastify'
import { draw } from 'fastify-resources'
import { sqliteStore } from 'fastify-resources/sqlite'

const database = new Database(process.env.STORE ?? 'music.sqlite')

// The other program has made these tables.
database.exec(`
  CREATE TABLE IF NOT EXISTS Artist (ArtistId INTEGER PRIMARY KEY AUTOINCREMENT, Name TEXT NOT NULL UNIQUE);
  CREATE TABLE IF NOT EXISTS Album (
    AlbumId INTEGER PRIMARY KEY AUTOINCREMENT,
    Title TEXT NOT NULL,
    ReleasedOn TEXT,
    ArtistId INTEGER NOT NULL REFERENCES Artist
  );
  INSERT OR IGNORE INTO Artist (ArtistId, Name) VALUES (1, 'Clara Schumann'), (2, 'Fanny Hensel');
  INSERT OR IGNORE INTO Album (AlbumId, Title, ReleasedOn, ArtistId) VALUES (1, 'Piano Trio', '1846-09-01', 1), (2, 'Das Jahr', '1841-12-24', 2)`)

// The stores need a column that counts versions, so that no update is lost. A trigger counts the other program's updates.
for (const table of ['Artist', 'Album']) {
  const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as Array<{ readonly name: string }>
  if (columns.some(({ name }) => name === 'version')) continue
  database.exec(`
    ALTER TABLE ${table} ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
    CREATE TRIGGER count_${table} AFTER UPDATE ON ${table} WHEN NEW.version = OLD.version
      BEGIN UPDATE ${table} SET version = OLD.version + 1 WHERE ${table}Id = NEW.${table}Id; END`)
}
database.exec('CREATE INDEX IF NOT EXISTS albums_of_artist ON Album (ArtistId, AlbumId)')

const artist = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', minLength: 1, maxLength: 120 } }
} as const

const album = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string', minLength: 1, maxLength: 160 }, releasedOn: { type: ['string', 'null'], format: 'date' } }
} as const

const artists = sqliteStore({
  database,
  table: 'Artist',
  attributes: artist,
  columns: { id: 'ArtistId', name: 'Name' },
  unique: ['name']
})
const albums = sqliteStore({
  database,
  table: 'Album',
  attributes: { ...album, required: [...album.required, 'artistId'], properties: { ...album.properties, artistId: { type: 'integer' } } },
  columns: { id: 'AlbumId', title: 'Title', releasedOn: 'ReleasedOn', artistId: 'ArtistId' }
})

const app = fastify({
  logger: { level: 'warn' },
  // Clients that stall are disconnected after 6 s of headers or 11 s of a body.
  requestTimeout: 10_000,
  http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 }
})
app.addHook('onClose', async () => { database.close() })
app.register(draw((map) => map
  .resources('artists', { attributes: artist, store: artists, sort: ['name'] }, (artist) => artist
    .resources('albums', { attributes: album, store: albums, sort: ['title'] }))))
app.get('/', async (_request, reply) => reply.redirect('/artists'))

const url = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`The artists and their albums are at ${url}/artists. Stop it with Ctrl-C.`)
