import t from 'tap'
import { messageOf } from '../../../../lib/database/command/source.js'
import { CommandError, HELP, parseSettings } from '../../../../lib/database/command/settings.js'

const defaults = {
  source: 'a.sqlite',
  isUrl: false,
  write: false,
  only: undefined,
  except: undefined,
  schema: undefined,
  port: 3000,
  host: '127.0.0.1',
  prefix: '',
  origins: [],
  user: undefined,
  open: false,
  print: false
}

t.test('arguments become settings', async (t) => {
  const url = 'postgres://ann:secret@localhost/shop'
  const cases: ReadonlyArray<readonly [argv: string, settings: unknown, environment?: NodeJS.ProcessEnv]> = [
    ['a.sqlite', defaults],
    ['a.sqlite --write --open --print', { ...defaults, write: true, open: true, print: true }],
    ['--port 8080 a.sqlite --host=0.0.0.0', { ...defaults, port: 8080, host: '0.0.0.0' }],
    ['a.sqlite --only a,b --only c --except=d', { ...defaults, only: ['a', 'b', 'c'], except: ['d'] }],
    ['a.sqlite --user ann:se:cret', { ...defaults, user: 'ann:se:cret' }],
    ['a.sqlite --prefix /a/b-1.c', { ...defaults, prefix: '/a/b-1.c' }],
    ['a.sqlite --origin https://a.example --origin http://b:81',
      { ...defaults, origins: ['https://a.example', 'http://b:81'] }],
    ['a.sqlite --user=-ann:-', { ...defaults, user: '-ann:-' }],
    ['a.sqlite', defaults, { DATABASE_URL: url }],
    ['', { ...defaults, source: url, isUrl: true }, { DATABASE_URL: url }],
    [`${url} --schema sales`, { ...defaults, source: url, isUrl: true, schema: 'sales' }],
    ['postgresql://h/d', { ...defaults, source: 'postgresql://h/d', isUrl: true }],
    ['--help', 'help'],
    ['a.sqlite -h', 'help'],
    ['--version', 'version'],
    ['-v', 'version']
  ]
  for (const [argv, settings, environment = {}] of cases) {
    t.strictSame(parseSettings(argv.split(' ').filter((text) => text !== ''), environment), settings, argv)
  }
})

t.test('wrong arguments throw an error of one line', async (t) => {
  const cases: ReadonlyArray<readonly [argv: string, message: string]> = [
    ['', 'Name a database: fastify-resources FILE|URL'],
    ['a.sqlite b.sqlite', 'Name one database, not also "b.sqlite". Separate names of tables by commas only.'],
    ['a.sqlite --wirte', 'There is no option --wirte; did you mean --write? See --help.'],
    ['a.sqlite --authentication', 'There is no option --authentication. See --help.'],
    ['a.sqlite -x', 'There is no option -x. See --help.'],
    ['a.sqlite --write=1', '--write takes no value.'],
    ['a.sqlite --port', '--port needs a value, as in --port=VALUE. See --help.'],
    ['a.sqlite --port --write', '--port needs a value, as in --port=VALUE. See --help.'],
    ['a.sqlite --only=', '--only needs a value, as in --only=VALUE. See --help.'],
    ['a.sqlite --port 3k', '--port must be a number up to 65535, not "3k"'],
    ['a.sqlite --port 65536', '--port must be a number up to 65535, not "65536"'],
    ['a.sqlite --user ann', '--user must be a name and a password, as in --user ann:secret'],
    ...['tables', '/', '/a/', '/a//b', '/:a', '/a/..', '/a?b'].map((prefix) =>
      [`a.sqlite --prefix ${prefix}`, `--prefix must be a path such as /tables, not "${prefix}"`] as const),
    ...['a.example', 'https://a.example/', 'https://A.example', 'file://a', 'null'].map((origin) =>
      [`a.sqlite --origin ${origin}`,
        `--origin must be a scheme and a host such as https://tables.example.com, not "${origin}"`] as const),
    ['a.sqlite --schema sales', '--schema is for PostgreSQL. Leave it out for a file.'],
    ['mysql://localhost/shop', 'A URL must begin with postgres://, not with mysql:// Other databases are not served.']
  ]
  for (const [argv, message] of cases) {
    const parse = (): unknown => parseSettings(argv.split(' ').filter((text) => text !== ''), {})
    t.throws(parse, { constructor: CommandError, message, exitCode: 2 }, argv)
  }
})

t.test('the help names each option in lines of 100 characters', async (t) => {
  const named = [...HELP.matchAll(/--([a-z]+)/g)].map(([, name]) => name)
  t.ok([
    'write', 'only', 'except', 'schema', 'port', 'host', 'prefix', 'origin', 'user', 'open', 'print', 'help', 'version'
  ].every((name) => named.includes(name)))
  t.ok(HELP.split('\n').every((line) => line.length <= 100))
})

t.test('the message of an error is one line without a full stop', async (t) => {
  const cases: ReadonlyArray<readonly [error: unknown, text: string]> = [
    [new Error('No route.\n  at home'), 'No route'],
    [Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'ECONNREFUSED']
  ]
  for (const [error, text] of cases) t.equal(messageOf(error), text)
})
