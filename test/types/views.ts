import { type AttributesSchema, type VisibleOf } from '../../lib/index.js'
import { defaultViews, markup, type Views } from '../../lib/html/index.js'
declare function resources<const S extends AttributesSchema> (options: {
  attributes: S, views?: Partial<Views<VisibleOf<S>>>
}): void
resources({
  attributes: {
    type: 'object',
    properties: { title: { type: 'string' }, secret: { type: 'string', writeOnly: true } },
    required: ['title']
  },
  views: {
    list: (page, views) => markup`${page.rows.map(({ attributes }) =>
      attributes.title.toUpperCase())}${defaultViews.list(
        page, views
      )}${page.create !== undefined && views.form(page.create, page, views)}`,
    record: (page, views) => defaultViews.record(page, views),
    layout: (page, content, views) =>
      markup`${page.kind === 'list' && page.rows[0]?.attributes.title}${defaultViews.layout(page, content, views)}`
  }
})
resources({
  attributes: {
    type: 'object',
    properties: { title: { type: 'string' }, secret: { type: 'string', writeOnly: true } },
    required: ['title']
  },
  // @ts-expect-error a writeOnly attribute is not part of the output
  views: { list: (page) => page.rows.map(({ attributes }) => attributes.secret).join() }
})
declare const shared: Partial<Views>
declare const some: AttributesSchema
resources({ attributes: { type: 'object', properties: { title: { type: 'string' } } }, views: shared })
resources({ attributes: { type: 'object', properties: { title: { type: 'string' } } }, views: defaultViews })
resources({ attributes: some, views: { list: (page) => String(page.rows[0]?.attributes.anything) } })
