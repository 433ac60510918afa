import { markup, type Markup } from '../html-tag.js'
import { renderOption } from './controls-view.js'
import { renderErrors, renderHidden } from './form-view.js'
import type { Button, ImportPage } from './model.js'

/** Renders the page that imports rows from a file. */
export function importView (page: ImportPage): Markup {
  const { title, errors, notes: [does, ...notes], table, more, upload, messages } = page
  const region = markup`<div class="scroll import" role="group" aria-label="${title}" tabindex="0">${table}</div>\n`
  return markup`<h1>${title}</h1>
${errors.length > 0 && renderErrors(errors, page)}${
  does !== undefined && markup`<p class="lead">${does}</p>\n`
}${notes.map((note) => markup`<p>${note}</p>\n`)}${table !== undefined && region}${
  more !== undefined && markup`<p>${more}</p>\n`
}${table !== undefined && renderSteps(page)}${upload.isFirst
  ? renderUpload(page)
  : markup`<details><summary>${messages.importAnother}</summary>\n${renderUpload(page)}</details>\n`}`
}

/** Renders a form with a file. */
function renderForm ({ action }: ImportPage, content: Markup): Markup {
  const type = 'multipart/form-data'
  return markup`<form method="post" action="${action}" enctype="${type}" class="form">
${content}</form>
`
}

/** Renders the buttons of the next steps, after the file that they are about. */
function renderSteps (page: ImportPage): Markup {
  const { hidden, buttons } = page
  return renderForm(page, markup`${renderHidden(hidden)}<p class="actions">${buttons.map(renderStep)}${
    renderCancel(page)
  }</p>
`)
}

/** Renders a button. Turbo must not press that of the download. */
function renderStep ({ value, label }: Button, index: number): Markup {
  return markup`<button type="submit" name="step" value="${value}"${index === 0 && markup` class="primary"`}${
    value === 'faulty' && markup` data-turbo="false"`
  }>${label}</button>`
}

/** Renders the fields for a file. */
function renderUpload (page: ImportPage): Markup {
  const { upload: { isFirst, columns, matches, text }, table, messages, xhtml } = page
  const described = markup`aria-describedby="import-columns"`
  // An HTML parser drops a newline right after the tag.
  const start = !xhtml && text.startsWith('\n') && '\n'
  const names = markup`<span class="code" dir="ltr">${columns.join(', ')}</span>`
  return renderForm(page, markup`<p class="explanation" id="import-columns">${messages.importColumns} ${names}</p>
<div class="field"><label for="import-file">${messages.importFile}</label>
<input type="file" id="import-file" name="file" accept=".csv,text/csv" ${described}/></div>
<div class="field"><label for="import-text">${messages.importText}</label>
<textarea id="import-text" name="text" rows="5" cols="60" class="code" spellcheck="false" dir="ltr" ${described}>${
  start
}${text}</textarea></div>
${matches.length > 1 && markup`<div class="field select">
<label for="import-match">${messages.importMatch}</label>
<select id="import-match" name="match">${matches.map(renderOption)}</select></div>
`}<p class="actions"><button type="submit"${isFirst && table === undefined && markup` class="primary"`}>${
  messages.importCheck
}</button>${table === undefined && renderCancel(page)}</p>
`)
}

function renderCancel ({ cancel }: ImportPage): Markup | false {
  return cancel !== undefined && markup`<a class="button plain" href="${cancel.href}">${cancel.label}</a>`
}
