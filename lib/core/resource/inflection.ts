import pluralizer from 'pluralize'

/** The name as `camelize` returns it: `blog_posts` and `blog-posts` → `blogPosts`. */
export type CamelCase<Name extends string> = Name extends LiteralText<Name> ? Uncapitalize<JoinAll<Name>> : string

/**
 * The name as `singularize` returns it: `posts` → `post`. In a compound the last word changes. `string` if the ending
 * is ambiguous.
 */
export type Singularize<Name extends string> =
  Name extends LiteralText<Name> ? SingularizeLast<Name, LastWord<Name>> : string

/** The name itself, or `never` for a type such as `string`, whose text is unknown. */
type LiteralText<Name extends string> = {} extends Record<Name, true> ? never : Name

type JoinAll<Name extends string> = Join<Join<Join<Join<Name, '_'>, '-'>, '.'>, '/'>

type Join<Name extends string, Separator extends string, Joined extends string = ''> =
  Name extends `${infer Word}${Separator}${infer Rest}`
    ? Join<Rest, Separator, `${Joined}${Capitalize<Word>}`>
    : `${Joined}${Capitalize<Name>}`

type LastWord<Name extends string> = LastHump<AfterLast<AfterLast<AfterLast<AfterLast<Name, '_'>, '-'>, '.'>, '/'>>

type AfterLast<Name extends string, Separator extends string> =
  Name extends `${string}${Separator}${infer Rest}` ? AfterLast<Rest, Separator> : Name

type LastHump<Name extends string> = Name extends Lowercase<Name> ? Name : FindHump<Name>

type FindHump<Name extends string, Hump extends string = ''> =
  Name extends `${infer First}${infer Rest}`
    ? FindHump<Rest, First extends Lowercase<First> ? `${Hump}${First}` : First>
    : Hump

type SingularizeLast<Name extends string, Word extends string> =
  Name extends `${infer Start}${Word}` ? Append<Start, Word, SingularOfWord<Uncapitalize<Word>>> : never

type Append<Start extends string, Word extends string, Singular extends string> =
  string extends Singular ? string
    : Word extends Uncapitalize<Word> ? `${Start}${Singular}`
      : Word extends Abbreviation<Word> ? string
        : `${Start}${Capitalize<Singular>}`

/** An abbreviation and its plural: `URL`, `URLs`. */
type Abbreviation<Word extends string> =
  Uppercase<Word> | (Word extends `${infer First}s` ? `${Uppercase<First>}s` : never)

type Nouns = typeof IRREGULAR_NOUNS
type Irregular = { readonly [Singular in keyof Nouns as Nouns[Singular]]: Singular } & typeof OTHER_PLURALS
type Kept = keyof Nouns | typeof UNCOUNTABLE[number] | typeof SINGULAR[number]

type SingularOfWord<Word extends string> =
  Word extends keyof Irregular ? Irregular[Word]
    : Word extends Kept | `${string}ss` ? Word
      : Word extends `${string}${'a' | 'o'}uses` ? CutEnd<Word, 's'>
        : Word extends `${string}${Doubtful}` ? string
          : Word extends `${infer Stem}ies` ? `${Stem}y`
            : Word extends `${string}${Hissing}es` ? CutEnd<Word, 'es'>
              : CutEnd<Word, 's'>

type CutEnd<Word extends string, End extends string> = Word extends `${infer Stem}${End}`
  ? Stem extends ''
    ? Word
    : Stem
  : Word

type Hissing = 'ch' | 'sh' | 'ss' | 'x' | 'zz'

/** Endings of singulars, or of plurals with several singulars. */
type Doubtful =
  | 'a' | 'ae' | 'children' | 'eaux' | 'i' | 'im' | 'men' | 'people'
  | 'alias' | 'gas' | 'is' | 'measles' | 'tlas' | 'tmas' | 'us'
  | 'aliases' | 'gases' | 'tlases' | 'tmases' | 'uses'
  | 'analyses' | 'crises' | 'emphases' | 'gnoses' | 'neses' | 'rises' | 'synopses' | 'testes' | 'theses'
  | 'oes' | 'passersby' | 'pickaxes' | 'twelves'
  | `${'aunt' | 'charl' | 'coll' | 'crosst' | 'cut' | 'faer' | 'food' | 'gen' | 'goon' | 'group' | 'hipp'}ies`
  | `${'goal' | 'hogt' | 'junk' | 'lass' | 'loo' | 'mov' | 'neckt' | 'porkp' | 'smil' | 'talk' | 'vegg'}ies`
  | `${'append' | 'cod' | 'ind' | 'matr' | 'mur' | 'sil' | 'vert'}ices`
  | `${'al' | 'ar' | 'ea' | 'el' | 'eo' | 'ie' | 'kni' | 'li' | 'oa' | 'oo' | 'wi' | 'wol'}ves`

/** Nouns that name resources, with plurals that `pluralize` or the types get wrong. Each plural is listed once. */
export const IRREGULAR_NOUNS = {
  abuse: 'abuses',
  agenda: 'agendas',
  alias: 'aliases',
  alumnus: 'alumni',
  analysis: 'analyses',
  api: 'apis',
  appendix: 'appendices',
  aquarium: 'aquaria',
  atrium: 'atria',
  auditorium: 'auditoria',
  axis: 'axes',
  bias: 'biases',
  bonus: 'bonuses',
  bus: 'buses',
  cache: 'caches',
  calorie: 'calories',
  campus: 'campuses',
  canvas: 'canvases',
  census: 'censuses',
  child: 'children',
  cookie: 'cookies',
  compendium: 'compendia',
  consortium: 'consortia',
  corpus: 'corpuses',
  cpu: 'cpus',
  crisis: 'crises',
  criterion: 'criteria',
  datum: 'data',
  diagnosis: 'diagnoses',
  die: 'dice',
  emoji: 'emojis',
  epoch: 'epochs',
  excuse: 'excuses',
  foot: 'feet',
  gas: 'gases',
  german: 'germans',
  goose: 'geese',
  gpu: 'gpus',
  gymnasium: 'gymnasia',
  half: 'halves',
  hero: 'heroes',
  hypothesis: 'hypotheses',
  index: 'indices',
  knife: 'knives',
  leaf: 'leaves',
  lens: 'lenses',
  lie: 'lies',
  life: 'lives',
  louse: 'lice',
  man: 'men',
  matrix: 'matrices',
  menu: 'menus',
  mouse: 'mice',
  movie: 'movies',
  niche: 'niches',
  octopus: 'octopuses',
  ox: 'oxen',
  parenthesis: 'parentheses',
  person: 'people',
  phenomenon: 'phenomena',
  pie: 'pies',
  podium: 'podia',
  potato: 'potatoes',
  quantum: 'quanta',
  quiz: 'quizzes',
  radius: 'radii',
  reuse: 'reuses',
  schema: 'schemas',
  shelf: 'shelves',
  shoe: 'shoes',
  sku: 'skus',
  specimen: 'specimens',
  stadium: 'stadia',
  status: 'statuses',
  stimulus: 'stimuli',
  surplus: 'surpluses',
  syllabus: 'syllabi',
  synopsis: 'synopses',
  taxi: 'taxis',
  tech: 'techs',
  thesis: 'theses',
  tie: 'ties',
  tomato: 'tomatoes',
  tooth: 'teeth',
  use: 'uses',
  vertex: 'vertices',
  veto: 'vetoes',
  virus: 'viruses',
  wife: 'wives',
  wiki: 'wikis',
  woman: 'women',
  yes: 'yeses',
  zombie: 'zombies'
} as const

/** Less usual plurals with their singulars. */
export const OTHER_PLURALS = {
  corpora: 'corpus',
  dies: 'die',
  maxima: 'maximum',
  memoranda: 'memorandum',
  minima: 'minimum',
  monies: 'money',
  octopi: 'octopus',
  premia: 'premium',
  referenda: 'referendum',
  schemata: 'schema',
  spectra: 'spectrum',
  viri: 'virus',
  zeroes: 'zero'
} as const

/** Words that are the same in singular and plural. */
export const UNCOUNTABLE = [
  'analytics', 'athletics', 'aws', 'chaos', 'chassis', 'clothes', 'cms', 'corps', 'debris', 'devops', 'diabetes', 'dns',
  'economics', 'electronics', 'equipment', 'ethics', 'feedback', 'fish', 'forensics', 'furniture', 'gallows',
  'genetics', 'gps', 'gymnastics', 'headquarters', 'herpes', 'highjinks', 'https', 'information', 'ios', 'jeans', 'js',
  'knowledge', 'kudos', 'logistics', 'luggage', 'mathematics', 'media', 'metadata', 'mews', 'money', 'news', 'os',
  'pants', 'physics', 'pliers', 'politics', 'premises', 'robotics', 'scissors', 'series', 'shambles', 'sheep', 'shorts',
  'sms', 'species', 'tennis', 'thanks', 'tls', 'trousers', 'vps',
  // These are not nouns. A name such as `contact_us` has no plural.
  'are', 'has', 'have', 'is', 'me', 'she', 'them', 'these', 'they', 'this', 'those', 'us', 'was', 'we', 'were'
] as const

/** Singulars that look like plurals. Their own plural is regular, or belongs to another noun. */
export const SINGULAR = ['basis'] as const

type Words = ReadonlyMap<string, string>

const nouns = Object.entries(IRREGULAR_NOUNS)
const plurals = nouns.map(([, plural]) => plural)

const keep = (words: readonly string[]): [string, string][] => words.map((word) => [word, word])

const SINGULARS: Words = new Map([
  ...keep(UNCOUNTABLE), ...keep(SINGULAR), ...keep(Object.keys(IRREGULAR_NOUNS)),
  ...Object.entries(OTHER_PLURALS), ...nouns.map(([singular, plural]): [string, string] => [plural, singular])
])
const PLURALS: Words = new Map([
  ...keep(UNCOUNTABLE), ...keep(plurals), ...keep(Object.keys(OTHER_PLURALS)), ...nouns
])

/**
 * Matches the last word, which alone changes with the number: `post_tags`, `post-tags` and `postTags` end with `tags`.
 * The search runs backwards. Forwards, it would be quadratic in the length of a client's name.
 */
const LAST_WORD = /$(?<=(\p{Lu}+|\p{Lu}?[^\p{Lu}_./-]+))/u
/** Matches a plural abbreviation: `URLs`, `userIDs`. */
const ABBREVIATIONS = /\p{Lu}{2}s$/u
const SEPARATED = /[_./-]+(.?)/g

/**
 * Returns the singular: `posts` → `post`. In a compound the last word changes. A name that is no plural stays as it is.
 */
export function singularize (name: string): string {
  if (ABBREVIATIONS.test(name)) return name.slice(0, -1)
  return changeLastWord(name, (word) => SINGULARS.get(word) ?? pluralizer.singular(word))
}

/** Returns the plural: `post` → `posts`. In a compound the last word changes. A plural stays as it is. */
export function pluralize (name: string): string {
  return changeLastWord(name, (word) => PLURALS.get(word) ?? pluralizer.plural(word))
}

/** Returns a name in camel case: `blog_posts` and `blog-posts` → `blogPosts`. */
export function camelize (name: string): string {
  const joined = name.replaceAll(SEPARATED, (_, first: string) => first.toUpperCase())
  return joined.charAt(0).toLowerCase() + joined.slice(1)
}

/** The end of the name of an attribute that references a row, with a name before it: `authorId`, `author_id`. */
export const REFERENCE: RegExp = /(?<=.)(?:Id|_id)$|(?<=\p{Ll})ID$/u

/**
 * Returns the human name of an attribute or a part of one: `author_id` → `Author`, `lines.0.title` → `Lines 0 title`.
 * It does exactly what Rails' `humanize` does (`dueOn` → `Dueon`), because XML clients find an attribute by this name.
 */
export function humanize (path: string): string {
  const words = path.replaceAll(/[.-]/g, '_').replace(/^_+/, '').replace(/_id$/, '').replaceAll('_', ' ')
  const lower = words.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return lower === '' ? path : lower.replace(/^[a-z]/, (letter) => letter.toUpperCase())
}

function changeLastWord (name: string, change: (word: string) => string): string {
  const word = LAST_WORD.exec(name)?.[1] ?? ''
  // If a word has nothing but the ending, it stays, because nothing would be left.
  const changed = change(word.toLowerCase()) || word
  return name.slice(0, name.length - word.length) + matchCase(word, changed)
}

/** Writes a changed word with the capitals of `word`. */
function matchCase (word: string, changed: string): string {
  const shared = countShared(word.toLowerCase(), changed)
  const rest = changed.slice(shared)
  // An ending that is only added has small letters: `URL` → `URLs`.
  const loud = shared < word.length && word === word.toUpperCase()
  return word.slice(0, shared) + (loud ? rest.toUpperCase() : rest)
}

function countShared (one: string, other: string): number {
  let count = 0
  while (count < one.length && one[count] === other[count]) count++
  return count
}
