import pluralizer from 'pluralize'
import t from 'tap'
import { readFileSync } from 'node:fs'
import { labelOf } from '../../lib/html/names.js'
import {
  camelize, humanize, IRREGULAR_NOUNS, OTHER_PLURALS, pluralize, SINGULAR, singularize, UNCOUNTABLE
} from '../../lib/core/resource/inflection.js'
import { camelCased, certain, uncertain } from '../types/names.js'

/** A word (plural or not), its singular, the plural of that, and its dasherised, camelised and humanised forms. */
type Row = [word: string, singular: string, plural: string, dashes: string, camel: string, label: string]
type Difference = { ours: string, theirs: string, why: string }

const rows = JSON.parse(readFileSync(new URL('../vectors/inflections.json', import.meta.url), 'utf8')) as Row[]

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** The columns of a word, with our function for each. We never dasherise names. */
const columns: [what: string, ours: (word: string) => string, theirs: (row: Row) => string][] = [
  ['singular', singularize, ([, singular]) => singular],
  ['plural', (word) => pluralize(singularize(word)), ([, , plural]) => plural],
  ['camel case', (word) => capitalize(camelize(word)), ([, , , , camel]) => camel],
  ['human name', humanize, ([, , , , , label]) => label],
  ['label', (word) => labelOf({ name: word, schema: {} }), ([, , , , , label]) => label]
]

/** Our deliberate differences from the software that made the vectors. */
const differences: { [what: string]: Difference } = {
  'singular of feet': { ours: 'foot', theirs: 'feet', why: 'English' },
  'plural of feet': { ours: 'feet', theirs: 'feets', why: 'English' },
  'singular of leaves': { ours: 'leaf', theirs: 'leafe', why: 'English' },
  'singular of slaves': { ours: 'slave', theirs: 'slafe', why: 'English' },
  'singular of saves': { ours: 'save', theirs: 'safe', why: 'what is saved is more often named than a safe' },
  'singular of drives': { ours: 'drive', theirs: 'drife', why: 'English' },
  'singular of bases': {
    ours: 'base', theirs: 'basis', why: 'bases of knowledge or data are more often named than those of a reason'
  },
  'plural of octopi': { ours: 'octopuses', theirs: 'octopi', why: 'English: the word is Greek; octopi is read, too' },
  'singular of funky_jeans': {
    ours: 'funky_jeans', theirs: 'funky_jean', why: 'the last word decides, and jeans have no singular'
  },
  'camel case of admin/posts': { ours: 'AdminPosts', theirs: 'Admin::Posts', why: 'a name of JavaScript, not of Ruby' },
  'label of parent_id': { ours: 'Parent id', theirs: 'Parent', why: 'a label leaves out no word' },
  'label of URL': { ours: 'URL', theirs: 'Url', why: 'an abbreviation keeps its capitals' },
  'label of BlogPost': { ours: 'Blog post', theirs: 'Blogpost', why: 'a label has the words of the name' }
}

t.test('words are inflected as in Rails, except for the listed differences', async (t) => {
  const found: { [what: string]: Pick<Difference, 'ours' | 'theirs'> } = {}
  for (const row of rows) {
    for (const [what, tell, told] of columns) {
      const [ours, theirs] = [tell(row[0]), told(row)]
      if (ours !== theirs) found[`${what} of ${row[0]}`] = { ours, theirs }
    }
  }
  t.strictSame(found,
    Object.fromEntries(Object.entries(differences).map(([what, { ours, theirs }]) => [what, { ours, theirs }])))
})

// The values are those of ActiveSupport 6.1.7 for the name with underscores in place of dots and hyphens.
t.test('the human name of an attribute is the one that clients of the convention compute', (t) => {
  const names: Array<[name: string, human: string]> = [
    ['first_name', 'First name'], ['author_id', 'Author'], ['id', 'Id'], ['_id', 'Id'], ['__x', 'X'], ['a__b', 'A  b'],
    ['first_name_', 'First name '],
    ['dueOn', 'Dueon'], ['homeURL', 'Homeurl'], ['über_uns', 'über uns'], ['first-name', 'First name'],
    ['author.name', 'Author name'], ['lines.0.post_id', 'Lines 0 post'],
    ['_', '_']
  ]
  for (const [name, human] of names) t.equal(humanize(name), human, name)
  t.end()
})

t.test('the functions return what the types promise', async (t) => {
  for (const [name, singular] of certain) t.equal(singularize(name), singular, name)
  for (const [name, singular] of uncertain) t.equal(singularize(name), singular, name)
  for (const [name, camel] of camelCased) t.equal(camelize(name), camel, name)
})

t.test('each singular has a plural that leads back to it', async (t) => {
  const words = [...rows.map(([word]) => word), ...[...certain, ...uncertain].map(([name]) => name),
    ...Object.keys(IRREGULAR_NOUNS), ...Object.values(IRREGULAR_NOUNS), ...Object.keys(OTHER_PLURALS), ...UNCOUNTABLE]
  // A word of SINGULAR has the plural of another noun.
  for (const word of words.filter((word) => !SINGULAR.some((singular) => singular === word))) {
    const singular = singularize(word)
    t.equal(singularize(singular), singular, `${word} in the singular`)
    t.equal(singularize(pluralize(singular)), singular, `${word} there and back`)
    t.equal(pluralize(pluralize(singular)), pluralize(singular), `${word} in the plural`)
  }
})

t.test('each irregular word has one place in the tables', async (t) => {
  const words = [...Object.keys(IRREGULAR_NOUNS), ...Object.values(IRREGULAR_NOUNS), ...Object.keys(OTHER_PLURALS),
    ...UNCOUNTABLE, ...SINGULAR]
  t.strictSame(words.filter((word, index) => words.indexOf(word) !== index), [])
})

t.test('uncountable nouns stay the same', async (t) => {
  for (const word of [
    'sheep', 'fish', 'news', 'series', 'species', 'information', 'equipment', 'money', 'jeans', 'feedback', 'metadata',
    'sms'
  ]) {
    for (const name of [word, `old_${word}`, `old-${word}`, `old${capitalize(word)}`]) {
      t.equal(singularize(name), name)
      t.equal(pluralize(name), name)
    }
  }
})

const plurals: [singular: string, plural: string][] = [
  ['post', 'posts'], ['category', 'categories'], ['day', 'days'], ['box', 'boxes'], ['address', 'addresses'],
  ['status', 'statuses'], ['virus', 'viruses'], ['canvas', 'canvases'], ['lens', 'lenses'], ['bias', 'biases'],
  ['epoch', 'epochs'], ['schema', 'schemas'], ['german', 'germans'], ['specimen', 'specimens'],
  ['person', 'people'], ['child', 'children'], ['woman', 'women'], ['mouse', 'mice'], ['foot', 'feet'], ['ox', 'oxen'],
  ['index', 'indices'], ['criterion', 'criteria'], ['analysis', 'analyses'], ['basis', 'bases'],
  ['octopus', 'octopuses'],
  ['stadium', 'stadia'], ['aquarium', 'aquaria'], ['blogStadium', 'blogStadia'], ['premium', 'premiums'],
  ['museum', 'museums'], ['album', 'albums'],
  ['cookie', 'cookies'], ['cache', 'caches'], ['hero', 'heroes'], ['knife', 'knives'], ['cpu', 'cpus'],
  ['agenda', 'agendas'],
  ['funky_person', 'funky_people'], ['blog-category', 'blog-categories'], ['blogPost', 'blogPosts'],
  ['admin/post', 'admin/posts'],
  ['leftFoot', 'leftFeet'], ['Person', 'People'], ['BlogPost', 'BlogPosts'], ['HTTPStatus', 'HTTPStatuses'],
  ['post2', 'post2s'], ['données', 'données'],
  // The ending after capitals is in lower case, since `URLS` would look like an abbreviation.
  ['URL', 'URLs'], ['userID', 'userIDs'], ['SMS', 'SMS']
]

t.test('a singular becomes its plural and a plural stays', async (t) => {
  for (const [singular, plural] of plurals) {
    t.equal(pluralize(singular), plural)
    t.equal(pluralize(plural), plural)
  }
})

t.test('a singular keeps the capitals of its plural', async (t) => {
  for (const [
    plural, singular
  ] of [
      ['Premia', 'Premium'], ['spectra', 'spectrum'], ['People', 'Person'], ['PEOPLE', 'PERSON'],
      ['CATEGORIES', 'CATEGORY'], ['POSTS', 'POST'], ['BlogPosts', 'BlogPost'], ['URLs', 'URL'], ['userIDs', 'userID'],
      ['APIs', 'API'], ['VPs', 'VP'], ['Cafés', 'Café']
    ] as const) {
    t.equal(singularize(plural), singular)
  }
})

t.test('a name that is only an ending, or has no last word, stays the same', async (t) => {
  for (const name of ['s', 'S', '', '_', 'posts_', 'x-', 'constructor', '__proto__']) t.equal(singularize(name), name)
  for (const name of ['', '_', 'posts_']) t.equal(pluralize(name), name)
})

t.test('words that are not nouns stay the same', async (t) => {
  for (const name of ['contact_us', 'about-me', 'thisIs', 'these']) {
    t.equal(singularize(name), name)
    t.equal(pluralize(name), name)
  }
})

t.test('the words of the package pluralize, which a process shares, are not changed', async (t) => {
  t.equal(pluralizer.singular('cookies'), 'cooky')
  t.equal(pluralizer.plural('money'), 'monies')
})

t.test('the time for a long name grows linearly', async (t) => {
  const long = 'a'.repeat(1_000_000)
  const start = performance.now()
  for (const name of [long, `${long}_`, long.toUpperCase(), `${long}s`]) singularize(name)
  t.ok(performance.now() - start < 5000)
})
