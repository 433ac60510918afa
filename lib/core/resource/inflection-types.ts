import type { IRREGULAR_NOUNS, OTHER_PLURALS, SINGULAR, UNCOUNTABLE } from './irregular-nouns.js'

/** The name as `camelize` returns it: `blog_posts` and `blog-posts` → `blogPosts`. */
export type CamelCase<Name extends string> = Name extends Literal<Name> ? Uncapitalize<JoinAll<Name>> : string

/**
 * The name as `singularize` returns it: `posts` → `post`. In a compound the last word changes. `string` if the ending
 * is ambiguous.
 */
export type Singularize<Name extends string> =
  Name extends Literal<Name> ? SingularizeLast<Name, LastWord<Name>> : string

/** The name itself, or `never` for a type such as `string`, whose text is unknown. */
type Literal<Name extends string> = {} extends Record<Name, true> ? never : Name

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
