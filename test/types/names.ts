import type { CamelCase, Singularize } from '../../lib/core/resource/inflection.js'

type Equal<One, Other> = (<T>() => T extends One ? 1 : 2) extends (<T>() => T extends Other ? 1 : 2) ? true : false
type Pairs = readonly (readonly [string, string])[]

/** Plural names with the singular that the type computes. */
export const certain = [
  ['posts', 'post'], ['comments', 'comment'], ['users', 'user'], ['articles', 'article'], ['tags', 'tag'],
  ['threads', 'thread'], ['messages', 'message'], ['sms_messages', 'sms_message'], ['tutors', 'tutor'],
  ['boys', 'boy'], ['sessions', 'session'], ['versions', 'version'], ['subscriptions', 'subscription'],
  ['pianos', 'piano'], ['logos', 'logo'], ['studios', 'studio'], ['portfolios', 'portfolio'], ['radios', 'radio'],
  ['stories', 'story'], ['parties', 'party'], ['bodies', 'body'], ['replies', 'reply'], ['entries', 'entry'],
  ['blog_categories', 'blog_category'], ['blog-categories', 'blog-category'], ['blogCategories', 'blogCategory'],
  ['BlogCategories', 'BlogCategory'], ['queries', 'query'], ['libraries', 'library'], ['currencies', 'currency'],
  ['histories', 'history'], ['movies', 'movie'], ['cookies', 'cookie'], ['calories', 'calorie'],
  ['zombies', 'zombie'], ['pies', 'pie'], ['ties', 'tie'], ['lies', 'lie'],

  ['boxes', 'box'], ['foxes', 'fox'], ['taxes', 'tax'], ['prefixes', 'prefix'], ['suffixes', 'suffix'],
  ['matches', 'match'], ['batches', 'batch'], ['switches', 'switch'], ['churches', 'church'], ['wishes', 'wish'],
  ['dishes', 'dish'], ['flashes', 'flash'], ['crashes', 'crash'], ['addresses', 'address'], ['classes', 'class'],
  ['EmailAddresses', 'EmailAddress'], ['buzzes', 'buzz'], ['caches', 'cache'], ['niches', 'niche'],
  ['epochs', 'epoch'], ['techs', 'tech'], ['stomachs', 'stomach'], ['lenses', 'lens'],
  ['responses', 'response'], ['licenses', 'license'], ['expenses', 'expense'], ['courses', 'course'],
  ['horses', 'horse'], ['nurses', 'nurse'], ['universes', 'universe'], ['databases', 'database'], ['cases', 'case'],
  ['phases', 'phase'], ['releases', 'release'], ['purchases', 'purchase'], ['purposes', 'purpose'],
  ['houses', 'house'], ['warehouses', 'warehouse'], ['causes', 'cause'], ['clauses', 'clause'], ['pulses', 'pulse'],
  ['collapses', 'collapse'], ['exercises', 'exercise'], ['promises', 'promise'], ['statuses', 'status'],
  ['gases', 'gas'], ['canvases', 'canvas'], ['biases', 'bias'],
  ['uses', 'use'], ['reuses', 'reuse'], ['excuses', 'excuse'], ['abuses', 'abuse'],
  ['heroes', 'hero'], ['potatoes', 'potato'], ['tomatoes', 'tomato'], ['vetoes', 'veto'],
  ['shoes', 'shoe'], ['wives', 'wife'],
  ['knives', 'knife'], ['lives', 'life'], ['leaves', 'leaf'], ['halves', 'half'],
  ['shelves', 'shelf'],
  ['drives', 'drive'], ['archives', 'archive'],
  ['objectives', 'objective'], ['perspectives', 'perspective'], ['curves', 'curve'], ['waves', 'wave'],
  ['saves', 'save'], ['slaves', 'slave'], ['sleeves', 'sleeve'],
  ['dice', 'die'], ['quizzes', 'quiz'], ['funky_people', 'funky_person'], ['sales-people', 'sales-person'],
  ['blogPeople', 'blogPerson'], ['left_feet', 'left_foot'], ['leftFeet', 'leftFoot'], ['data', 'datum'],
  ['criteria', 'criterion'], ['phenomena', 'phenomenon'], ['alumni', 'alumnus'],
  ['radii', 'radius'], ['indices', 'index'], ['matrices', 'matrix'],
  ['vertices', 'vertex'], ['appendices', 'appendix'], ['axes', 'axis'], ['analyses', 'analysis'],
  ['crises', 'crisis'], ['theses', 'thesis'], ['hypotheses', 'hypothesis'], ['diagnoses', 'diagnosis'],
  ['synopses', 'synopsis'], ['parentheses', 'parenthesis'], ['octopi', 'octopus'], ['octopuses', 'octopus'],
  ['schemas', 'schema'], ['schemata', 'schema'], ['bases', 'base'], ['sheep', 'sheep'], ['fish', 'fish'],
  ['news', 'news'], ['series', 'series'], ['species', 'species'], ['information', 'information'],
  ['equipment', 'equipment'], ['money', 'money'], ['feedback', 'feedback'], ['metadata', 'metadata'],
  ['media', 'media'], ['jeans', 'jeans'], ['funky_jeans', 'funky_jeans'], ['funkyJeans', 'funkyJeans'],
  ['scissors', 'scissors'], ['headquarters', 'headquarters'], ['analytics', 'analytics'], ['sms', 'sms'],
  ['dns', 'dns'], ['status', 'status'], ['bus', 'bus'], ['lens', 'lens'], ['address', 'address'],
  ['access', 'access'], ['process', 'process'], ['success', 'success'], ['basis', 'basis'], ['axis', 'axis'],
  ['menu', 'menu'], ['index', 'index'], ['post', 'post'], ['user', 'user'], ['profile', 'profile'],
  ['first_name', 'first_name'], ['parent_id', 'parent_id'], ['admin_posts', 'admin_post'],
  ['admin/posts', 'admin/post'], ['AdminPosts', 'AdminPost'], ['APIKeys', 'APIKey'], ['v2_posts', 'v2_post'],
  ['area51Posts', 'area51Post'], ['apis', 'api'], ['wikis', 'wiki'], ['emojis', 'emoji'],
  ['contact_us', 'contact_us']
] as const satisfies Pairs

/** Plural names whose singular the type leaves as `string`. */
export const uncertain = [
  ['salesmen', 'salesman'], ['firemen', 'fireman'], ['grandchildren', 'grandchild'], ['townspeople', 'townsperson'],
  ['christmases', 'christmas'], ['sunrises', 'sunrise'], ['lotuses', 'lotus'], ['hiatuses', 'hiatus'],
  ['cumuli', 'cumuli'], ['cherubim', 'cherub'], ['plateaux', 'plateau'], ['pizza', 'pizza'], ['extrema', 'extremum'],
  ['larvae', 'larvae'], ['bookshelves', 'bookshelf'], ['URL', 'URL'], ['URLs', 'URL'], ['userIDs', 'userID'],
  ['POSTS', 'POST'], ['mangoes', 'mango'], ['psychoanalyses', 'psychoanalysis'],
  ['atlases', 'atlas'], ['echoes', 'echo'], ['volcanoes', 'volcano'], ['toes', 'toe'], ['canoes', 'canoe'],
  ['calves', 'calf'], ['selves', 'self'], ['elves', 'elf'], ['wolves', 'wolf'], ['loaves', 'loaf'],
  ['thieves', 'thief'], ['scarves', 'scarf'], ['valves', 'valve'], ['grooves', 'groove'], ['cacti', 'cactus'],
  ['fungi', 'fungus'], ['nuclei', 'nucleus']
] as const satisfies Pairs

/** Names with their camel case. */
export const camelCased = [
  ['posts', 'posts'], ['post', 'post'], ['blog_posts', 'blogPosts'], ['blog-posts', 'blogPosts'],
  [
    'blogPosts', 'blogPosts'
  ], ['BlogPosts', 'blogPosts'], ['admin/blog_posts', 'adminBlogPosts'], ['v2.posts', 'v2Posts'],
  [
    'admin_blog-posts', 'adminBlogPosts'
  ], ['a__b', 'aB'], ['_private', 'private'], ['posts_', 'posts'], ['post_2_tags', 'post2Tags'],
  ['userIDs', 'userIDs'], ['user_URL', 'userURL'], ['_', '']
] as const satisfies Pairs

/** Returns the pairs for which the type computes something else, with its result. */
type Wrong<List extends Pairs, Checked extends { [Index in keyof List]: unknown }> = {
  [Index in keyof List]: Equal<List[Index][1], Checked[Index]> extends true ? never : [List[Index], Checked[Index]]
}[number]

/** Returns the names for which the type computes a singular. */
type Told<Checked extends readonly string[]> =
  { [Index in keyof Checked]: string extends Checked[Index] ? never : Checked[Index] }[number]

type Singulars<List extends Pairs> = { readonly [Index in keyof List]: Singularize<List[Index][0]> }
type CamelCases<List extends Pairs> = { readonly [Index in keyof List]: CamelCase<List[Index][0]> }

/** Fails to compile unless the list is empty. The compiler names the offenders. */
type None<Wrong extends never> = Wrong

export type Checks = [
  None<Wrong<typeof certain, Singulars<typeof certain>>>,
  None<Told<Singulars<typeof uncertain>>>,
  None<Wrong<typeof camelCased, CamelCases<typeof camelCased>>>
]

export const checks: readonly true[] = [
  // A union gives the results of its members, `string` gives `string`, and a bare ending gives itself.
  true satisfies Equal<Singularize<'posts' | 'people'>, 'post' | 'person'>,
  true satisfies Equal<Singularize<'posts' | 'salesmen'>, string>,
  true satisfies Equal<CamelCase<'blog_posts' | 'tags'>, 'blogPosts' | 'tags'>,
  true satisfies Equal<Singularize<string>, string>,
  true satisfies Equal<Singularize<`${string}s`>, string>,
  true satisfies Equal<CamelCase<string>, string>,
  true satisfies Equal<CamelCase<`blog_${string}`>, string>,
  true satisfies Equal<Singularize<'s'>, 's'>,
  true satisfies Equal<Singularize<'posts_'>, 'posts_'>,
  true satisfies Equal<Singularize<''>, ''>
]
