import { compilePlural, compileTypes, type Language } from '../../grammar.js'
import { isolate, isolateParts } from './isolate.js'

const characters = compilePlural('ar', {
  zero: '# حرف', one: 'حرف واحد', two: 'حرفين', few: '# أحرف', many: '# حرفًا', other: '# حرف'
})
const items = compilePlural('ar', {
  zero: '# عنصر', one: 'عنصر واحد', two: 'عنصرين', few: '# عناصر', many: '# عنصرًا', other: '# عنصر'
})
const digits = compilePlural('ar', {
  zero: '# رقم', one: 'رقم واحد', two: 'رقمين', few: '# أرقام', many: '# رقمًا', other: '# رقم'
})
const types = compileTypes({
  'a string': 'نصًا',
  'an integer': 'عددًا صحيحًا',
  'a number': 'عددًا',
  'true or false': 'نعم أو لا',
  'an array': 'قائمة',
  'an object': 'مجموعة قيم',
  null: 'قيمة فارغة'
}, ' أو ')

const atMostCharacters = (most: string): string => `يجب ألا تزيد القيمة على ${characters(most)}`
const atLeastItems = (least: string): string => `يجب ألا تقل القائمة عن ${items(least)}`
const atMostItems = (most: string): string => `يجب ألا تزيد القائمة على ${items(most)}`
const digitsBefore = (most: string): string => `يجب ألا يزيد الجزء الصحيح على ${digits(most)}`
const digitsAfter = (most: string): string => `يجب ألا يزيد الجزء العشري على ${digits(most)}`

/** The texts of the server in Arabic. */
export const phrases: Language['phrases'] = isolateParts({
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

  'something went wrong on the server': 'حدث خطأ في الخادم.',
  'the store is not available now, and nothing was written; try again':
    'مخزن البيانات غير متاح حاليًا، ولم يُحفظ شيء. حاول مرة أخرى.',
  'the store is full, and nothing was written': 'مخزن البيانات ممتلئ، ولم يُحفظ شيء.',
  'the sequence of the ids is behind the rows, and nothing was written; it must go on from the greatest id':
    'أنشأت قاعدة البيانات معرّفًا مستخدمًا في صف آخر، ولم يُحفظ شيء. يجب أن يتابع عدّادها من أكبر معرّف.',
  'the store did not answer, and it is not known whether anything was written; look before you try again':
    'لم يستجب مخزن البيانات. تحقق من الحفظ قبل أن تحاول مرة أخرى.',
  'you are not allowed to {0} {1}': 'ليست لديك صلاحية لتنفيذ هذا الإجراء.',
  'there is no {0} with the id {1}': (_, id) => `لا يوجد سجل بالمعرّف ${isolate(id)}.`,
  'there is no {0} here': 'لا يوجد شيء هنا. ربما حُذف السجل.',
  'there is nothing here: leave out the slash at the end of the path':
    'لا يوجد شيء هنا. احذف الشرطة المائلة من نهاية العنوان.',
  '{0} is not allowed here; use {1}': 'هذا الإجراء غير متاح هنا.',
  'none of the types in Accept is available here; choose one of {0}': 'الصيغ المتاحة: {0}.',
  'there is no format "{0}"; choose one of {1}': 'الصيغة «{0}» غير موجودة. الصيغ المتاحة: {1}.',
  '{0} cannot be read here; send {1}': 'لا يمكن قراءة هذا النوع من البيانات هنا.',
  'the request comes from {0}': 'الطلب صادر من موقع آخر، وقد رُفض.',
  'the {0} exists already': 'هذا السجل موجود بالفعل.',
  '{0} is already taken': 'قيمة «{0}» مستخدمة بالفعل.',
  '{0} is already taken together with {1}': 'قيمة «{0}» مع «{1}» مستخدمة بالفعل.',
  '{0} still refer to it; delete or change them first':
    'ما زالت سجلات أخرى تشير إليه ({0}). احذفها أو عدّلها أولًا.',
  'it refers to something that does not exist, or something else refers to it':
    'يشير السجل إلى شيء غير موجود، أو يشير إليه سجل آخر.',
  'it refers to something that does not exist': 'يشير السجل إلى شيء غير موجود.',
  'a row with these values exists already': 'يوجد بالفعل سجل بهذه القيم.',
  'a value that must be given is missing': 'توجد قيمة مطلوبة ناقصة.',
  'the database refuses a value': 'رفضت قاعدة البيانات إحدى القيم.',
  'an attribute is too long or too large, or has characters that cannot be stored':
    'إحدى القيم طويلة أو كبيرة جدًا، أو فيها أحرف لا يمكن حفظها.',
  'the rows of this table cannot be written, because no key of it is unique':
    'لا يمكن تعديل هذا الجدول، لأنه بلا مفتاح فريد.',
  'the {0} does not meet the If-Match, If-None-Match or _version of the request; read it again':
    'تغيّر السجل في هذه الأثناء. أعد تحميله.',
  'the {0} has been replaced meanwhile; read it again': 'استُبدل السجل في هذه الأثناء. أعد تحميله.',
  'a new {0} has no version yet; leave out If-Match and _version':
    'ليس للسجل الجديد إصدار بعد. احذف If-Match و _version.',
  'send If-Match with the ETag of the {0} that you have read': 'إصدار السجل غير محدد (If-Match). أعد تحميله.',
  '{0} is not a list of entity tags such as "1.xml"': 'القيمة {0} ليست قائمة ETag مثل "1.xml".',
  'the version in If-Match or _version does not say which row it belongs to; {0}':
    'الإصدار في If-Match أو _version لا يحدد السجل الذي يخصه.',
  'the request names two ids: "{0}" and "{1}"': 'في الطلب معرّفان: «{0}» و«{1}».',
  'the body has more than {0} values': 'عدد القيم في الطلب يزيد على {0}.',
  'the URL must have at most {0} characters': 'يجب ألا يزيد طول العنوان على {0} من الأحرف.',
  'Request body is too large': 'حجم الطلب كبير جدًا.',
  'the body is not valid UTF-8': 'ترميز الطلب ليس UTF-8 صحيحًا.',
  'the body looks like {0}, but its Content-Type says that it is a form; send the header Content-Type: {1}':
    'يبدو الطلب بصيغة {0}، لكنه أُرسل كنموذج. أرسل الترويسة Content-Type بالقيمة {1}.',
  'the form has a percent escape that is not valid UTF-8': 'في النموذج أحرف غير صالحة.',
  'the form has more than {0} fields': 'عدد حقول النموذج يزيد على {0}.',
  'the form asks to add or remove a row, which only a page (text/html) can show':
    'لا يمكن إضافة الصفوف أو إزالتها إلا في صفحة (text/html).',
  'the field name "{0}" is malformed': 'اسم الحقل «{0}» غير صالح.',
  'the field name "{0}" is nested too deep': 'مستويات اسم الحقل «{0}» كثيرة جدًا.',
  'a row of the form must have one name, but has several': 'في أحد صفوف النموذج أكثر من اسم.',
  'a row of the form must have one name and one value': 'يجب أن يكون في كل صف من النموذج اسم وقيمة.',
  '"id", "_method", "_version" and "commit" must be single fields, not parts such as id[a]':
    'يجب أن تكون «id» و«_method» و«_version» و«commit» حقولًا مفردة، لا أجزاء مثل id[a].',
  '"_method" must be PUT or DELETE, and given once': 'يجب أن تكون «_method» إما PUT وإما DELETE، ومرة واحدة فقط.',
  '"_method" is allowed in a POST only; leave it out': 'لا تُستخدم «_method» إلا مع POST.',
  '"_version" must be given once': 'يجب أن ترد «_version» مرة واحدة فقط.',

  'a query must have at most {0} parameters': 'يجب ألا يزيد عدد معاملات العنوان على {0}.',
  'the parameter "{0}" is unknown; did you mean "{1}"?': 'المعامل «{0}» غير معروف. هل تقصد «{1}»؟',
  'the parameter "{0}" is unknown; {1}': 'المعامل «{0}» غير معروف.',
  'the parameter "{0}" is unknown': 'المعامل «{0}» غير معروف.',
  'the parameter "{0}" must be given once': 'يجب أن يرد المعامل «{0}» مرة واحدة فقط.',
  '"limit" must be a number from 1 to {0}': 'يجب أن تكون «limit» عددًا من 1 إلى {0}.',
  '"blank" must be "any", which ignores parameters without a value': 'يجب أن تكون «blank» هي «any».',
  '"count" must be "true", or "estimate" if an estimate is enough': 'يجب أن تكون «count» إما «true» وإما «estimate».',
  '"q" must have a word': 'أدخل كلمة للبحث.',
  '"q" must have at most {0} words': 'يجب ألا يزيد عدد كلمات البحث على {0}.',
  '"{0}" must not be empty': 'يجب ألا تكون «{0}» فارغة.',
  '"{0}" needs "{1}"': 'تحتاج «{0}» إلى «{1}».',
  '"{0}" must have at most {1} values': 'يجب ألا يزيد عدد قيم «{0}» على {1}.',
  '"{0}" has a backslash without a meaning; write {1}':
    'في «{0}» شرطة مائلة عكسية بلا معنى. اكتب \\, للفاصلة و \\\\ للشرطة.',
  '"{0}" names "{1}" twice': 'وردت «{1}» مرتين في «{0}».',
  '"{0}" must be names separated by commas, such as "{1}"': 'يجب أن تكون «{0}» أسماء تفصلها فواصل، مثل «{1}».',
  '"sort" names "{0}", by which this list cannot be sorted; did you mean "{1}"?':
    'لا يمكن ترتيب هذه القائمة حسب «{0}». هل تقصد «{1}»؟',
  '"sort" names "{0}", by which this list cannot be sorted': 'لا يمكن ترتيب هذه القائمة حسب «{0}».',
  '"sort" names "{0}" after "id", where it can have no effect: no two rows have the same id':
    'لا أثر للترتيب حسب «{0}» بعد «id».',
  '"sort" must name at most {0} attributes': 'يجب ألا يزيد عدد أسماء «sort» على {0}.',
  '"only" names "{0}", which is not an attribute of {1}': 'لا وجود للاسم «{0}» الوارد في «only».',
  '"include" names "{0}", which is not a relation of {1}': 'لا وجود للاسم «{0}» الوارد في «include».',
  '"{0}" and "{1}" exclude each other; send one of them': 'لا يمكن استخدام «{0}» و«{1}» معًا.',
  '"offset" must be a number from 0 to {0}; follow the "next" links to read on':
    'يجب أن تكون «offset» عددًا من 0 إلى {0}؛ لمتابعة القراءة استخدم روابط الصفحة التالية.',
  '"{0}" must come from a "{1}" link of this list with the same order':
    'هذه الصفحة من القائمة غير موجودة. احذف «{0}» للعودة إلى البداية.',
  'the row at which the page {0} has been deleted; start again without "{1}"':
    'حُذف السجل الذي عند حد هذه الصفحة. احذف «{1}» للعودة إلى البداية.',
  'this list has no previous pages; start again without "before"':
    'لا توجد صفحات سابقة. احذف «before» للعودة إلى البداية.',

  'must be given': 'هذا الحقل مطلوب',
  'must not be blank': 'يجب ألا تكون القيمة فارغة',
  'must have at least {0} characters': (least) => `يجب ألا تقل القيمة عن ${characters(least)}`,
  'must have at most {0} characters': atMostCharacters,
  'must have at most {0} character': atMostCharacters,
  'must be at least {0}': 'يجب ألا تقل القيمة عن {0}',
  'must be at most {0}': 'يجب ألا تزيد القيمة على {0}',
  'must be more than {0}': 'يجب أن تكون القيمة أكبر من {0}',
  'must be less than {0}': 'يجب أن تكون القيمة أصغر من {0}',
  'must be a multiple of {0}': 'يجب أن تكون القيمة من مضاعفات {0}',
  'must be an integer between {0} and {1}': 'يجب أن تكون القيمة عددًا صحيحًا بين {0} و {1}',
  'must have at least {0} items': atLeastItems,
  'must have at least {0} item': atLeastItems,
  'must have at most {0} items': atMostItems,
  'must have at most {0} item': atMostItems,
  'must not have the same item twice': 'يجب ألا يتكرر العنصر نفسه',
  'must match {0}': 'يجب أن تطابق القيمة النمط {0}',
  'must be one of {0}': 'يجب أن تكون القيمة إحدى هذه القيم: {0}',
  'must be a date such as {0}': 'يجب أن تكون القيمة تاريخًا مثل {0}',
  'must be a time such as {0}': 'يجب أن تكون القيمة وقتًا مثل {0}',
  'must be a date and time such as {0}': 'يجب أن تكون القيمة تاريخًا ووقتًا مثل {0}',
  'must be a date and time without an offset, such as {0}':
    'يجب أن تكون القيمة تاريخًا ووقتًا بلا منطقة زمنية، مثل {0}',
  'must be a time without an offset, such as {0}': 'يجب أن تكون القيمة وقتًا بلا منطقة زمنية، مثل {0}',
  'must be a decimal number such as {0}, without an exponent': 'يجب أن تكون القيمة عددًا عشريًا مثل {0}',
  'must be a string; write a decimal number as a string: {0}': 'يجب كتابة العدد العشري كنص: {0}',
  'must have at most {0} digits before the point': digitsBefore,
  'must have at most {0} digit before the point': digitsBefore,
  'must have no digit but 0 before the point': 'يجب أن يكون الجزء الصحيح 0',
  'must have at most {0} digits after the point': digitsAfter,
  'must have at most {0} digit after the point': digitsAfter,
  'must be a whole number without a point': 'يجب أن تكون القيمة عددًا صحيحًا بلا فاصلة عشرية',
  'must be base64 with padding, such as {0}': 'يجب أن تكون القيمة بترميز Base64 مع الحشو، مثل {0}',
  'must be base64': 'يجب أن تكون القيمة بترميز Base64',
  'must be an e-mail address': 'يجب أن تكون القيمة عنوان بريد إلكتروني',
  'must be an absolute URL': 'يجب أن تكون القيمة عنوان ويب كاملًا',
  'must be a UUID in lower case': 'يجب أن تكون القيمة UUID بأحرف صغيرة',
  'must be a valid {0}': 'القيمة ليست بصيغة «{0}»',
  'must be a value of the enumeration of its column': 'القيمة ليست من القيم الممكنة',
  'must be a value that the type {0} can have': 'القيمة لا تناسب النوع {0}',
  'must be a group of attributes': 'يجب أن تكون القيمة مجموعة قيم',
  'must be JSON': 'يجب أن تكون القيمة بصيغة JSON',
  'must number the items that have parts, as in [0][name]': 'يجب ترقيم العناصر، مثل [0][name]',
  'must be inside "{0}": send {1}': 'يجب أن تكون القيمة داخل «{0}»: {1}',
  'must be inside "{0}"': 'يجب أن تكون القيمة داخل «{0}»',
  'must not have more than {0} names': 'يجب ألا يزيد عدد الأسماء على {0}',
  'must not have more than {0} attributes': 'يجب ألا يزيد عدد البيانات على {0}',
  'must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored':
    'في القيمة أحرف لا يمكن حفظها',
  'must be a text without U+0000 and unpaired surrogates': 'في القيمة أحرف لا يمكن حفظها',
  'must be {0}': (wanted) => `يجب أن تكون القيمة ${isolate(types(wanted))}`,
  'refers to something that does not exist': 'القيمة تشير إلى شيء غير موجود',
  'cannot be stored': 'لا يمكن حفظ القيمة',
  'is already taken': 'القيمة مستخدمة بالفعل',
  'is already taken together with {0}': 'القيمة مع «{0}» مستخدمة بالفعل',
  'is not valid': 'القيمة غير صالحة',
  'is assigned by the server; leave it out': 'تُحدد القيمة تلقائيًا',
  'consists of {0}; send that instead': 'تتكون القيمة من {0}؛ أرسل ذلك بدلاً منها',
  'is given more than once': 'وردت القيمة أكثر من مرة',
  'is given both as one value and in parts': 'وردت القيمة كاملةً ومجزأةً معًا',
  'is unknown beside "{0}"; did you mean "{1}"?': 'الحقل غير معروف بجانب «{0}». هل تقصد «{1}»؟',
  'is unknown beside "{0}"': 'الحقل غير معروف بجانب «{0}»',
  'is unknown; did you mean "{0}"?': 'الحقل غير معروف. هل تقصد «{0}»؟',
  'is unknown': 'الحقل غير معروف',
  'is a name of more than {0} characters': 'الاسم أطول من {0} من الأحرف',
  'is not a valid name': 'الاسم غير صالح',
  'is not a valid name in XML': 'الاسم غير صالح',
  'is nested deeper than {0} levels': 'مستويات القيمة أكثر من {0}',
  'is too complex to be checked': 'القيمة معقدة جدًا بحيث لا يمكن فحصها',
  'has a "-" in its name, which XML clients write for "_"; send "{0}"': 'في الاسم شرطة (-). اكتب «{0}».',
  'has the unknown marker "{0}"': 'العلامة «{0}» غير معروفة',
  'has the number {0}, which cannot be kept exactly; send at most 15 digits, between 1e-307 and 1e308':
    'لا يمكن حفظ العدد {0} بدقة',
  'has no column in the table': 'لا يوجد عمود مقابل في الجدول'
})
