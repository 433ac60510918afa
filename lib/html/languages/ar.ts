import {
  type Catalog, compileCondition, compileOperators, compilePlural, compileTypes, type KnownTexts
} from './grammar.js'

/** Keeps a text that may run from left to right together (Unicode Standard Annex 9, FSI and PDI). */
function isolate (text: number | string): string {
  return `\u2068${text}\u2069`
}

/** Matches Latin words with the punctuation that belongs to them: `_version`, `id[a]`. */
const LATIN = /[\w\\"[](?:[\w\\/"[\],-]|\.(?=\w))*/g

/** Isolates the values and the Latin words of a text: after Arabic letters, `-1` would be shown as `1-`. */
function isolated (parts: TemplateStringsArray, ...values: ReadonlyArray<number | string>): string {
  return String.raw({ raw: parts.map((part) => part.replaceAll(LATIN, isolate)) }, ...values.map(isolate))
}

const characters = compilePlural('ar', {
  zero: '# حرف', one: 'حرف واحد', two: 'حرفان', few: '# أحرف', many: '# حرفًا', other: '# حرف'
})
const blank = compilePlural('ar', {
  zero: '# قيمة فارغة',
  one: 'قيمة فارغة واحدة',
  two: 'قيمتان فارغتان',
  few: '# قيم فارغة',
  many: '# قيمة فارغة',
  other: '# قيمة فارغة'
})
const count = compilePlural('ar', {
  zero: '# عنصر', one: 'عنصر واحد', two: 'عنصران', few: '# عناصر', many: '# عنصرًا', other: '# عنصر'
})

const writeOperator = compileOperators({
  words: {
    eq: 'يساوي',
    gte: 'لا يقل عن',
    gt: 'أكبر من',
    lte: 'لا يزيد على',
    lt: 'أصغر من',
    not: 'لا يساوي',
    in: 'ضمن',
    contains: 'يحتوي على',
    starts: 'يبدأ بـ'
  },
  times: { gte: 'بدءًا من', gt: 'بعد', lte: 'حتى', lt: 'قبل' },
  blank: 'فارغ',
  filled: 'غير فارغ'
})

const condition = compileCondition(writeOperator, ': ')

const TAKEN = { json: ` المحتوى الحالي ${isolate('JSON')}.`, text: ' المحتوى الحالي نص عادي.' }

const ofCharacters = compilePlural('ar', {
  zero: '# حرف', one: 'حرف واحد', two: 'حرفين', few: '# أحرف', many: '# حرفًا', other: '# حرف'
})
const ofItems = compilePlural('ar', {
  zero: '# عنصر', one: 'عنصر واحد', two: 'عنصرين', few: '# عناصر', many: '# عنصرًا', other: '# عنصر'
})
const ofDigits = compilePlural('ar', {
  zero: '# رقم', one: 'رقم واحد', two: 'رقمين', few: '# أرقام', many: '# رقمًا', other: '# رقم'
})
const nameTypes = compileTypes({
  string: 'نصًا',
  integer: 'عددًا صحيحًا',
  number: 'عددًا',
  boolean: 'نعم أو لا',
  array: 'قائمة',
  object: 'مجموعة قيم',
  null: 'قيمة فارغة'
}, ' أو ')

/** The words of the pages in Arabic. */
export const messages: Catalog = {
  genericPlural: 'السجلات',
  genericSingular: 'سجل',
  id: 'المعرّف',
  record: (singular, id) => `${isolate(singular)} ${isolate(id)}`,
  new: (singular) => `إضافة ${isolate(singular)}`,
  newButton: 'إضافة',
  edit: (name) => `تعديل «${isolate(name)}»`,
  editButton: 'تعديل',
  create: (singular) => `إضافة ${isolate(singular)}`,
  save: 'حفظ التغييرات',
  another: 'حفظ وإضافة سجل آخر',
  cancel: 'إلغاء',
  saved: 'تم الحفظ.',
  created: 'تمت الإضافة.',
  deleted: 'تم الحذف.',
  done: 'تم التنفيذ.',
  delete: (singular) => `حذف ${isolate(singular)}`,
  deleteWarning: (name) => `سيتم حذف «${isolate(name)}» نهائيًا.`,
  deleteCascade: (referrers) => `وسيُحذف معه أيضًا: ${isolate(referrers)}.`,
  undeletable: (name, referrers) => `لا يمكن حذف «${isolate(name)}»: ما زالت سجلات أخرى تشير إليه` +
    (referrers === undefined ? '' : ` (${isolate(referrers)})`),
  rowsOf: (_, digits, plural) => `${isolate(plural)}: ${isolate(digits)}`,
  deleteConfirm: 'تأكيد الحذف',
  chosenRows: 'المحدد:',
  deleteButton: 'حذف',
  changeButton: 'تعديل',
  deleteRows: (_, digits, plural) => `حذف ${isolate(plural)}: ${digits}`,
  deleteRowsWarning: () => 'سيكون الحذف نهائيًا.',
  changeRows: (_, digits, plural) => `تعديل ${isolate(plural)}: ${digits}`,
  leaveAttribute: 'دون تغيير',
  moreRows: (digits) => `وغيرها: ${digits}`,
  missingRows: (digits) => `لم تعد موجودة: ${digits}`,
  chooseAllRows: (_, digits, plural) => `اختيار القائمة كلها (${isolate(plural)}: ${digits})`,
  noneChosen: () => 'لم يتم تحديد أي سجل',
  download: 'تنزيل CSV',
  importButton: 'استيراد',
  importRows: (plural) => `استيراد ${isolate(plural)}`,
  importFile: 'ملف CSV',
  importText: 'أو أسطر ملف',
  importColumns: 'السطر الأول يسمّي الأعمدة:',
  importMatch: 'البحث عن السجلات حسب',
  importCheck: 'تحقّق',
  importDoes: (created, changed) => changed === undefined
    ? `إنشاء: ${created}`
    : created === undefined ? `تعديل: ${changed}` : `إنشاء: ${created}، وتعديل: ${changed}`,
  importNothing: 'لن يتغيّر شيء',
  importUnchanged: (digits) => `بلا تغيير: ${digits}`,
  importLeftOut: (digits) => `مستبعدة: ${digits}`,
  importLine: 'السطر',
  importColumn: 'العمود',
  importFault: 'المشكلة',
  importFaulty: 'تنزيل الأسطر التي بها أخطاء',
  importRest: 'المتابعة بدونها',
  importAnother: 'اختيار ملف آخر',
  blank: (number) => blank(number),
  empty: () => 'القائمة فارغة',
  emptyAdvice: () => 'أضف السجل الأول باستخدام النموذج أدناه.',
  noMore: () => 'لا توجد سجلات أخرى',
  noMatch: () => 'لا توجد نتائج مطابقة',
  all: () => 'عرض الكل',
  total: (_, digits, plural) => `${isolate(plural)}: ${digits}`,
  moreThan: (digits, plural) => `${isolate(plural)}: أكثر من ${digits}`,
  about: (digits, plural) => `${isolate(plural)}: نحو ${digits}`,
  range: (first, last, total) => `${first}–${last} من ${total}`,
  relatedBy: (plural, relation) => `${isolate(plural)}: ${isolate(relation)}`,
  moreRelated: (digits) => `أكثر من ${digits}`,
  search: 'بحث',
  condition: (label, operator, value, isTime) =>
    condition(isolate(label), operator, operator === 'null' ? value : isolate(value), isTime),
  operator: writeOperator,
  filterBy: 'التصفية حسب',
  chooseFilter: 'اختيار',
  chooseOne: (label) => `اختيار: ${isolate(label)}`,
  back: 'رجوع',
  removeCondition: (condition) => `إزالة «${isolate(condition)}»`,
  filter: 'تصفية',
  applyFilter: 'تطبيق التصفية',
  clearFilter: 'مسح التصفية',
  next: 'الصفحة التالية',
  previous: 'الصفحة السابقة',
  first: 'الصفحة الأولى',
  last: 'الصفحة الأخيرة',
  navigation: 'الأقسام',
  allResources: 'جميع الأقسام',
  allTables: 'كل الجداول',
  tables: 'الجداول',
  views: 'طرق العرض',
  resourceName: 'القسم',
  resourceRows: 'عدد السجلات',
  noResources: 'لا يوجد شيء هنا بعد',
  alsoAs: 'صيغ أخرى:',
  breadcrumb: 'أنت هنا',
  skip: 'الانتقال إلى المحتوى',
  skipToRows: 'الانتقال إلى السجلات',
  yes: 'نعم',
  no: 'لا',
  items: count,
  listed: (values, value) => `${values}، ${value}`,
  none: 'بدون قيمة',
  choose: 'اختر…',
  optional: 'اختياري',
  oneALine: 'قيمة واحدة في كل سطر.',
  asJson: `بصيغة ${isolate('JSON')}.`,
  jsonOrText: (taken) => `${isolate('JSON')} أو نص عادي.${taken === undefined ? '' : TAKEN[taken]}`,
  dateHint: `مثال: ${isolate('2026-01-31')}`,
  dateTimeHint: `مثال: ${isolate('2026-01-31T12:00:00Z')}`,
  offset: 'الفرق عن التوقيت العالمي (UTC)',
  offsetHint: `${isolate('Z')} للتوقيت العالمي، أو مثلًا ${isolate('+03:00')}`,
  keepHidden: 'اتركه فارغًا للاحتفاظ بالقيمة الحالية.',
  removeHidden: (label) => `إزالة ${isolate(label)}`,
  typeAgain: 'أدخل القيمة مرة أخرى، فهي لا تُعرض أبدًا.',
  atMost: (count) => `الحد الأقصى: ${characters(count)}.`,
  atLeast: (items) => `الحد الأدنى: ${items}.`,
  item: (label, number) => `${isolate(label)} ${number}`,
  addTo: (label) => `إضافة ${isolate(label)}`,
  removeItem: 'إزالة',
  remove: (label, number) => `إزالة ${isolate(label)} ${number}`,
  kept: '(يبقى كما هو، لأن هذا النموذج لا يستطيع عرضه كاملًا)',
  fixed: '(لا يمكن تغييره، لأنه جزء من المعرّف)',
  beginning: 'تُعرض البداية فقط: أول 100,000 حرف.',
  attributeName: 'الاسم',
  attributeValue: 'القيمة',
  furtherAttributes: 'بيانات أخرى',
  addAttribute: 'إضافة بيان',
  fieldError: (label, error) => `${isolate(label)}: ${error}`,
  labelled: (label, value) => `${isolate(label)}: ${isolate(value)}`,
  problem: 'توجد مشكلة',
  problemTitle: (title) => `خطأ: ${isolate(title)}`,
  stale: (singular) => `تعارض في التعديل: ${isolate(singular)}`,
  staleAdvice: 'حفظ شخص آخر تغييرات بعد أن فتحت هذه الصفحة. لم تُطبَّق تغييراتك بعد، ولم يُفقد شيء.',
  staleDeletion: 'حفظ شخص آخر تغييرات بعد أن فتحت هذه الصفحة، لذلك لم يُحذف شيء. هل تريد الحذف رغم ذلك؟',
  staleChoose: 'اختر القيمة التي تريد الاحتفاظ بها لكل اختلاف، ثم احفظ.',
  yours: 'قيمتك',
  theirs: 'القيمة الأخرى',
  keepYours: 'الاحتفاظ بقيمتك',
  keepTheirs: 'الاحتفاظ بالقيمة الأخرى',
  bothChanged: 'غيّرته أنت وشخص آخر',
  theyChanged: 'غيّره شخص آخر',
  keepOld: 'الاحتفاظ بالقيمة القديمة',
  takeNew: 'استخدام القيمة الجديدة',
  same: 'لم يغيّره شخص آخر',
  noRecord: (singular) => `سجل غير موجود: ${isolate(singular)}`,
  noPage: 'هذه الصفحة غير موجودة',
  gone: (singular) => `سجل لم يعد موجودًا: ${isolate(singular)}`,
  goneAdvice: 'حذف شخص ما هذا السجل بعد أن فتحت هذه الصفحة. لم تُحفظ تغييراتك، لكن ما أدخلته ما زال هنا.',
  createAgain: 'إضافته من جديد',
  savedAlready: 'حُفظ هذا من قبل',
  saveAnother: 'الحفظ كسجل جديد',
  leave: 'العودة دون تغيير',

  mustBeGiven: 'هذا الحقل مطلوب',
  mustNotBeBlank: 'يجب ألا تكون القيمة فارغة',
  mustNotBeEmpty: 'يجب ألا تكون القيمة فارغة',
  mustHaveAtLeastCharacters: ({ least }) => `يجب ألا تقل القيمة عن ${ofCharacters(least)}`,
  mustHaveAtMostCharacters: ({ most }) => `يجب ألا تزيد القيمة على ${ofCharacters(most)}`,
  mustBeAtLeast: ({ least }) => isolated`يجب ألا تقل القيمة عن ${least}`,
  mustBeAtMost: ({ most }) => isolated`يجب ألا تزيد القيمة على ${most}`,
  mustBeMoreThan: ({ limit }) => isolated`يجب أن تكون القيمة أكبر من ${limit}`,
  mustBeLessThan: ({ limit }) => isolated`يجب أن تكون القيمة أصغر من ${limit}`,
  mustBeMultipleOf: ({ factor }) => isolated`يجب أن تكون القيمة من مضاعفات ${factor}`,
  mustBeIntegerBetween: ({ least, most }) => isolated`يجب أن تكون القيمة عددًا صحيحًا بين ${least} و ${most}`,
  mustHaveAtLeastItems: ({ least }) => `يجب ألا تقل القائمة عن ${ofItems(least)}`,
  mustHaveAtMostItems: ({ most }) => `يجب ألا تزيد القائمة على ${ofItems(most)}`,
  mustNotRepeatItems: 'يجب ألا يتكرر العنصر نفسه',
  mustMatch: ({ pattern }) => isolated`يجب أن تطابق القيمة النمط ${pattern}`,
  mustEqual: ({ value }) => `يجب أن تكون القيمة ${isolate(value)}`,
  mustBeOneOf: ({ values }) => isolated`يجب أن تكون القيمة إحدى هذه القيم: ${values}`,
  mustBeOfType: ({ types }) => `يجب أن تكون القيمة ${isolate(nameTypes(types))}`,
  mustBeDate: isolated`يجب أن تكون القيمة تاريخًا مثل ${'2026-01-31'}`,
  mustBeTime: isolated`يجب أن تكون القيمة وقتًا مثل ${'12:00:00Z'}`,
  mustBeDateTime: isolated`يجب أن تكون القيمة تاريخًا ووقتًا مثل ${'2026-01-31T12:00:00Z'}`,
  mustBeLocalTime: isolated`يجب أن تكون القيمة وقتًا بلا منطقة زمنية، مثل ${'12:00:00'}`,
  mustBeLocalDateTime: isolated`يجب أن تكون القيمة تاريخًا ووقتًا بلا منطقة زمنية، مثل ${'2026-01-31T12:00:00'}`,
  mustBeDecimal: isolated`يجب أن تكون القيمة عددًا عشريًا مثل ${'-12.50'}`,
  mustHaveDigitsBefore: ({ most }) => `يجب ألا يزيد الجزء الصحيح على ${ofDigits(most)}`,
  mustHaveNoDigitsBefore: isolated`يجب أن يكون الجزء الصحيح 0`,
  mustHaveDigitsAfter: ({ most }) => `يجب ألا يزيد الجزء العشري على ${ofDigits(most)}`,
  mustBeWhole: 'يجب أن تكون القيمة عددًا صحيحًا بلا فاصلة عشرية',
  mustBeBase64: isolated`يجب أن تكون القيمة بترميز Base64 مع الحشو، مثل ${'aGVsbG8='}`,
  mustBeEmail: 'يجب أن تكون القيمة عنوان بريد إلكتروني',
  mustBeUrl: 'يجب أن تكون القيمة عنوان ويب كاملًا',
  mustBeUuid: isolated`يجب أن تكون القيمة UUID بأحرف صغيرة`,
  mustHaveFormat: ({ format }) => isolated`القيمة ليست بصيغة «${format}»`,
  mustBeInEnumeration: 'القيمة ليست من القيم الممكنة',
  mustFitColumn: ({ type }) => isolated`القيمة لا تناسب النوع ${type}`,
  mustBeJson: isolated`يجب أن تكون القيمة بصيغة JSON`,
  mustHaveAtMostNames: ({ most }) => isolated`يجب ألا يزيد عدد الأسماء على ${most}`,
  mustHaveAtMostAttributes: ({ most }) => isolated`يجب ألا يزيد عدد البيانات على ${most}`,
  mustBeStorable: 'في القيمة أحرف لا يمكن حفظها',
  mustHaveWord: 'يجب أن تحتوي القيمة على كلمة',
  mustHaveAtMostWords: ({ most }) => isolated`يجب ألا يزيد عدد الكلمات على ${most}`,
  mustHaveAtMostValues: ({ most }) => isolated`يجب ألا يزيد عدد القيم على ${most}`,
  hasUnknownEscape: isolated`في القيمة شرطة مائلة عكسية بلا معنى. اكتب \\, للفاصلة و \\\\ للشرطة`,
  refersToNothing: 'القيمة تشير إلى شيء غير موجود',
  cannotBeStored: 'لا يمكن حفظ القيمة',
  isTaken: 'القيمة مستخدمة بالفعل',
  isTakenTogether: ({ others }) => isolated`القيمة مع «${others}» مستخدمة بالفعل`,
  isInvalid: 'القيمة غير صالحة',
  isAssigned: 'تُحدد القيمة تلقائيًا',
  isUnknown: ({ near }) => near === undefined ? 'الحقل غير معروف' : isolated`الحقل غير معروف. هل تقصد «${near}»؟`,
  isLongName: ({ most }) => isolated`الاسم أطول من ${most} من الأحرف`,
  isInvalidName: 'الاسم غير صالح',
  isInvalidXmlName: 'الاسم غير صالح',
  isNestedTooDeep: ({ most }) => isolated`مستويات القيمة أكثر من ${most}`,
  isTooComplex: 'القيمة معقدة جدًا بحيث لا يمكن فحصها',
  hasHyphen: ({ cure }) => isolated`في الاسم شرطة (-). اكتب «${cure}».`,
  hasInexactNumber: ({ number }) => isolated`لا يمكن حفظ العدد ${number} بدقة`,
  hasNoColumn: 'لا يوجد عمود مقابل في الجدول',

  serverFailed: 'حدث خطأ في الخادم.',
  storeUnavailable: 'مخزن البيانات غير متاح حاليًا، ولم يُحفظ شيء. حاول مرة أخرى.',
  storeFull: 'مخزن البيانات ممتلئ، ولم يُحفظ شيء.',
  sequenceBehind: 'أنشأت قاعدة البيانات معرّفًا مستخدمًا في صف آخر، ولم يُحفظ شيء. يجب أن يتابع عدّادها من أكبر معرّف.',
  outcomeUnknown: 'لم يستجب مخزن البيانات. تحقق من الحفظ قبل أن تحاول مرة أخرى.',
  actionForbidden: () => 'ليست لديك صلاحية لتنفيذ هذا الإجراء.',
  idUnknown: ({ id }) => `لا يوجد سجل بالمعرّف ${isolate(id)}.`,
  nothingHere: () => 'لا يوجد شيء هنا. ربما حُذف السجل.',
  slashAtEnd: 'لا يوجد شيء هنا. احذف الشرطة المائلة من نهاية العنوان.',
  methodNotAllowed: () => 'هذا الإجراء غير متاح هنا.',
  formatUnknown: ({ format, formats }) => isolated`الصيغة «${format}» غير موجودة. الصيغ المتاحة: ${formats}.`,
  crossSite: () => 'الطلب صادر من موقع آخر، وقد رُفض.',
  existsAlready: () => 'هذا السجل موجود بالفعل.',
  stillReferenced: ({ referrers }) => isolated`ما زالت سجلات أخرى تشير إليه (${referrers}). احذفها أو عدّلها أولًا.`,
  referenceBroken: 'يشير السجل إلى شيء غير موجود.',
  referenceRefused: 'يشير السجل إلى شيء غير موجود، أو يشير إليه سجل آخر.',
  valuesTaken: 'يوجد بالفعل سجل بهذه القيم.',
  valueMissing: 'توجد قيمة مطلوبة ناقصة.',
  valueRefused: 'رفضت قاعدة البيانات إحدى القيم.',
  valueUnstorable: 'إحدى القيم طويلة أو كبيرة جدًا، أو فيها أحرف لا يمكن حفظها.',
  rowsAtFault: ({ faulty, count }) =>
    isolated`السجلات التي بها أخطاء: ${faulty} من ${count}. لم يتم حفظ أو حذف أي شيء.`,
  changedMeanwhile: () => 'تغيّر السجل في هذه الأثناء. أعد تحميله.',
  replacedMeanwhile: () => 'استُبدل السجل في هذه الأثناء. أعد تحميله.',
  keyReused: 'أُرسل هذا النموذج من قبل ببيانات أخرى. أعد تحميل الصفحة.',
  keyInUse: 'تجري معالجة النموذج نفسه. أعد المحاولة بعد قليل.',
  tooManyValues: ({ most }) => isolated`عدد القيم في الطلب يزيد على ${most}.`,
  urlTooLong: ({ most }) => isolated`يجب ألا يزيد طول العنوان على ${most} من الأحرف.`,
  fileNotUtf8: 'الملف ليس بترميز UTF-8. احفظه من جدول البيانات بصيغة «CSV UTF-8».',
  fileIsEmpty: 'لا يحتوي الملف على أسطر بيانات. السطر الأول يسمّي الأعمدة، وكل سطر آخر سجل.',
  fileHasTooManyRows: ({ most }) => isolated`عدد أسطر الملف يزيد على ${most}. قسّمه.`,
  fileTooLarge: ({ most }) => isolated`حجم الملف يزيد على ${most}. قسّمه.`,
  csvHeaderInvalid: () => 'يجب أن يسمّي السطر الأول كل عمود مرة واحدة.',
  csvLineInvalid: ({ line }) => isolated`لا يمكن قراءة السطر ${line}. تحقّق من علامات الاقتباس.`,
  csvFieldCount: ({ line, fields, columns }) => isolated`حقول السطر ${line}: ${fields}. أعمدة السطر الأول: ${columns}.`,
  tooManyFields: ({ most }) => isolated`عدد حقول النموذج يزيد على ${most}.`,
  parameterUnknown: ({ name, near }) => near === undefined
    ? isolated`المعامل «${name}» غير معروف.`
    : isolated`المعامل «${name}» غير معروف. هل تقصد «${near}»؟`,
  parameterRepeated: ({ name }) => isolated`يجب أن يرد المعامل «${name}» مرة واحدة فقط.`,
  limitInvalid: ({ most }) => isolated`يجب أن تكون «limit» عددًا من 1 إلى ${most}.`,
  offsetInvalid: ({ most }) =>
    isolated`يجب أن تكون «offset» عددًا من 0 إلى ${most}؛ لمتابعة القراءة استخدم روابط الصفحة التالية.`,
  cannotSortBy: ({ name, near }) => near === undefined
    ? isolated`لا يمكن ترتيب هذه القائمة حسب «${name}».`
    : isolated`لا يمكن ترتيب هذه القائمة حسب «${name}». هل تقصد «${near}»؟`,
  cursorInvalid: ({ parameter }) => isolated`هذه الصفحة من القائمة غير موجودة. احذف «${parameter}» للعودة إلى البداية.`,
  cursorLost: ({ parameter }) => isolated`حُذف السجل الذي عند حد هذه الصفحة. احذف «${parameter}» للعودة إلى البداية.`
}

/** The texts of Node.js and Fastify in Arabic. */
export const texts: KnownTexts = {
  'Bad Request': 'طلب غير صحيح',
  Unauthorized: 'يلزم تسجيل الدخول',
  'Payment Required': 'يلزم الدفع',
  Forbidden: 'غير مسموح',
  'Not Found': 'الصفحة غير موجودة',
  'Method Not Allowed': 'إجراء غير متاح هنا',
  'Not Acceptable': 'صيغة غير متاحة',
  'Request Timeout': 'انتهت مهلة الطلب',
  Conflict: 'تعارض',
  Gone: 'محتوى محذوف',
  'Precondition Failed': 'تغيّر المحتوى',
  'Payload Too Large': 'حجم البيانات كبير جدًا',
  'URI Too Long': 'العنوان طويل جدًا',
  'Unsupported Media Type': 'نوع بيانات غير مدعوم',
  'Unprocessable Entity': 'بيانات غير صالحة',
  'Precondition Required': 'الإصدار غير محدد',
  'Too Many Requests': 'طلبات كثيرة جدًا',
  'Internal Server Error': 'خطأ في الخادم',
  'Bad Gateway': 'استجابة غير صحيحة من خادم آخر',
  'Service Unavailable': 'الخدمة غير متاحة حاليًا',
  'Gateway Timeout': 'لا توجد استجابة',
  'Insufficient Storage': 'مساحة التخزين ممتلئة',
  'Request body is too large': 'حجم الطلب كبير جدًا.'
}
