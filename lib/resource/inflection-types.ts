import type { NOUNS, OTHER_PLURALS, SINGULAR, UNCOUNTABLE } from './irregular-nouns.js'

/** As `camelize` does it: `blog_posts` and `blog-posts` → `blogPosts` */
export type CamelCase<Name extends string> = Name extends Literal<Name> ? Uncapitalize<JoinAll<Name>> : string

/**
 * As `singularize` does it: `posts` → `post`; of a compound the last word. `string` where an ending does not tell for
 * certain what the function makes of it.
 */
export type Singularize<Name extends string> =
  Name extends Literal<Name> ? SingularizeLast<Name, LastWord<Name>> : string

/** A type such as `string` tells nothing about its text. */
type Literal<Name extends string> = {} extends Record<Name, true> ? never : Name

// ---- Joining

type JoinAll<Name extends string> = Join<Join<Join<Join<Name, '_'>, '-'>, '.'>, '/'>

type Join<Name extends string, Separator extends string, Joined extends string = ''> =
  Name extends `${infer Word}${Separator}${infer Rest}`
    ? Join<Rest, Separator, `${Joined}${Capitalize<Word>}`>
    : `${Joined}${Capitalize<Name>}`

// ---- The last word of a name

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

/** A word that may be the end of capitals which belong together: `URL`, `URLs`. */
type Abbreviation<Word extends string> =
  Uppercase<Word> | (Word extends `${infer First}s` ? `${Uppercase<First>}s` : never)

// ---- The singular of a word

type Nouns = typeof NOUNS
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

/** A word that has another ending stays, and so does one that is nothing but the ending. */
type CutEnd<Word extends string, End extends string> = Word extends `${infer Stem}${End}`
  ? Stem extends ''
    ? Word
    : Stem
  : Word

type Hissing = 'ch' | 'sh' | 'ss' | 'x' | 'zz'

/** Endings that some singulars have too, or that several singulars lead to. */
type Doubtful =
  | 'a' | 'ae' | 'children' | 'eaux' | 'i' | 'im' | 'men' | 'people'
  | 'alias' | 'gas' | 'is' | 'measles' | 'tlas' | 'tmas' | 'us'
  | 'aliases' | 'gases' | 'tlases' | 'tmases' | 'uses'
  | 'analyses' | 'crises' | 'emphases' | 'gnoses' | 'neses' | 'rises' | 'synopses' | 'testes' | 'theses'
  | 'movies' | 'oes' | 'twelves'
  | `${'append' | 'cod' | 'ind' | 'matr' | 'mur' | 'sil' | 'vert'}ices`
  | `${'al' | 'ar' | 'ea' | 'el' | 'eo' | 'kni' | 'li' | 'oa' | 'oo' | 'wi' | 'wol'}ves`
