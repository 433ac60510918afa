import type { Operator } from '../../../../core/stores/store.js'
import { compileCondition, compilePlural, type Language } from '../../grammar.js'
import { isolate } from './isolate.js'

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

const OPERATORS = {
  eq: 'يساوي',
  gte: 'لا يقل عن',
  gt: 'أكبر من',
  lte: 'لا يزيد على',
  lt: 'أصغر من',
  not: 'لا يساوي',
  in: 'ضمن',
  contains: 'يحتوي على',
  starts: 'يبدأ بـ'
} as const

const OPERATORS_OF_TIMES = { ...OPERATORS, gte: 'بدءًا من', gt: 'بعد', lte: 'حتى', lt: 'قبل' } as const

function writeOperator (operator: Operator, value: string, isTime: boolean): string {
  if (operator === 'null') return value === 'true' ? 'فارغ' : 'غير فارغ'
  return (isTime ? OPERATORS_OF_TIMES : OPERATORS)[operator]
}

const condition = compileCondition(writeOperator, ': ')

const TAKEN = { json: ` المحتوى الحالي ${isolate('JSON')}.`, text: ' المحتوى الحالي نص عادي.' }

/** The words of the pages in Arabic. */
export const messages: Language['messages'] = {
  id: 'المعرّف',
  record: (singular, id) => `${isolate(singular)} ${isolate(id)}`,
  new: (singular) => `إضافة ${isolate(singular)}`,
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
  deleteConfirm: 'تأكيد الحذف',
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
  navigation: 'الأقسام',
  allResources: 'جميع الأقسام',
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
  gone: (singular) => `سجل لم يعد موجودًا: ${isolate(singular)}`,
  goneAdvice: 'حذف شخص ما هذا السجل بعد أن فتحت هذه الصفحة. لم تُحفظ تغييراتك، لكن ما أدخلته ما زال هنا.',
  createAgain: 'إضافته من جديد',
  leave: 'العودة دون تغيير'
}
