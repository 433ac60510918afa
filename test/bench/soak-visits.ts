import type { HandlerAnswer, Call } from './soak-connection.js'

/** A request with the status it must get, or one whose client leaves before the answer. */
export type Step = Call & ({ readonly expect: number } | { readonly leave: 'in the body' | 'in the answer' })

/** The steps of one client, one after the other. Each step receives the answer to the last one. */
export type Visit = Generator<Step, void, HandlerAnswer>

const json = 'application/json'
const xml = 'application/xml'
const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const formType = 'application/x-www-form-urlencoded'

function get (target: string, accept: string, expect: number, headers: Call['headers'] = {}): Step {
  return { method: 'GET', target, headers: { accept, ...headers }, expect }
}

function send (method: string, target: string, type: string, body: string, expect: number, headers: Call['headers'] = {}): Step {
  return { method, target, headers: { 'content-type': type, ...headers }, body, expect }
}

function submit (body: string, expect: number): Step {
  return send('POST', '/posts', formType, body, expect, { accept: html, 'sec-fetch-site': 'same-origin' })
}

function idIn ({ head }: HandlerAnswer): string {
  const [, id] = /^location: \/posts\/(\d+)/im.exec(head) ?? []
  if (id === undefined) throw new Error(`no Location in ${head}`)
  return id
}

/** Creates, changes and deletes a post by JSON. */
function * liveByJson (index: number): Visit {
  const title = `JSON ${index}`
  const id = idIn(yield send('POST', '/posts', json, JSON.stringify({ post: { title, body: 'Tea & <cake>\n', tags: ['a', 'b'], people: [{ name: 'Ann' }] } }), 201))
  yield send('POST', '/posts', json, JSON.stringify({ post: { title } }), 409)
  yield get(`/posts/${id}`, json, 200)
  yield get(`/posts/${id}`, json, 304, { 'if-none-match': '*' })
  yield send('PUT', '/posts', json, `{"id":${id},"post":{"rating":3}}`, 200, { 'if-match': '"1.json"' })
  yield send('PUT', '/posts', json, `{"id":${id},"post":{"rating":4}}`, 412, { 'if-match': '"1.json"' })
  yield send('PATCH', `/posts/${id}`, json, '{"post":{"tags":[]}}', 200)
  yield { method: 'DELETE', target: `/posts?id=${id}`, headers: { accept: json }, expect: 204 }
  yield get(`/posts/${id}.json`, '*/*', 404)
}

/** The same by XML, as old clients of the convention send it. */
function * liveByXml (index: number): Visit {
  const id = idIn(yield send('POST', '/posts.xml', xml, `<post><title>XML ${index}</title><body>Tea &amp; &lt;cake&gt;</body><tags type="array"><tag>a</tag></tags></post>`, 201))
  yield get(`/posts/${id}.xml`, '*/*', 200)
  yield get(`/posts/${id}`, xml, 304, { 'if-none-match': '*' })
  yield send('PUT', `/posts/${id}.xml`, xml, `<post><id type="integer">${id}</id><rating type="integer">2</rating></post>`, 200)
  yield send('PUT', '/posts', xml, `<post><id>${id}</id><rating>9</rating></post>`, 422)
  yield send('PUT', '/posts', xml, `<post><id>${id}</id><rating>1</rating></post>`, 412, { 'if-match': '"1.xml"' })
  yield send('DELETE', '/posts', xml, `<id>${id}</id>`, 204)
  yield send('DELETE', '/posts', xml, `<id>${id}</id>`, 404)
}

/** The same by the forms of a browser. */
function * liveByForms (index: number): Visit {
  const id = idIn(yield submit(`post[title]=Form+${index}&post[body]=Tea+%26+%3Ccake%3E%0D%0A&post[tags]=a%0D%0Ab`, 303))
  yield get(`/posts/${id}`, html, 200)
  yield submit(`_method=PUT&id=${id}&_version=1&post[rating]=2`, 303)
  yield submit(`_method=put&id=${id}&_version=1&post[rating]=3&post[title]=Another+${index}`, 412)
  yield submit(`_method=PUT&id=${id}&_version=2&post[rating]=x&post[title]=Another+${index}`, 422)
  yield submit(`_method=PUT&id=${id}&_version=2&post[people][?][add]=1&post[people][0][name]=Ann`, 200)
  yield submit(`_method=DELETE&id=${id}&_version=1`, 412)
  yield submit(`_method=DELETE&id=${id}&_version=2`, 303)
  yield get(`/posts/${id}`, html, 404)
}

function * read (index: number): Visit {
  yield get('/posts', html, 200)
  yield get('/posts.xml', '*/*', 200)
  const { head } = yield get(`/posts.json?sort=-rating,title&limit=${index % 9 + 1}`, '*/*', 200)
  yield get(/^link: <([^>]+)>/im.exec(head)?.[1] as string, '*/*', 200)
  yield get(`/posts?rating=${index % 5 + 1}&title=&blank=any`, html, 200)
  yield { ...get('/posts/1', json, 200), method: 'HEAD' }
  yield { method: 'OPTIONS', target: '/posts', expect: 204 }
  yield get('/archives?limit=3', xml, 200)
}

function * mistake (index: number): Visit {
  yield send('POST', '/posts', json, '{"post":{"title":"","rating":"3","titel":"x"}}', 422)
  yield send('POST', '/posts', xml, '<post><rating>x</rating></post>', 422)
  yield submit('post[title]=&post[rating]=x', 422)
  yield get(`/posts/nobody-${index}`, html, 404)
  yield get(`/nowhere/${index}`, json, 404)
  yield { method: 'DELETE', target: '/posts.xml', expect: 422 }
  yield { method: 'PATCH', target: '/posts', headers: { accept: xml }, expect: 405 }
  yield get('/posts', 'image/png', 406)
  yield send('POST', '/posts', 'text/plain', 'post', 415)
  yield get(`/posts?unknown=${index}`, json, 400)
  yield get('/posts?after=garbage', xml, 400)
  yield send('PUT', '/posts?id=2', json, '{"id":1,"post":{"rating":1}}', 400)
  yield get('/posts/1', json, 400, { 'if-none-match': 'no tag' })
  yield send('POST', '/posts', formType, 'post[title]=x', 403, { 'sec-fetch-site': 'cross-site' })
}

/** Sends malformed requests. The server closes the connection after each. */
function * garble (index: number): Visit {
  const steps = [
    send('POST', '/posts', json, `{"post":{"title":"${index}"`, 400),
    send('POST', '/posts', xml, `<post><title>${index}</post>`, 400),
    send('POST', '/posts', formType, 'post[title=%', 400, { accept: html }),
    send('POST', '/posts', json, '', 413, { 'content-length': '2000000' })
  ]
  yield steps[index % steps.length] as Step
}

function * leave (index: number): Visit {
  const body = JSON.stringify({ post: { title: `Never ${index}`, body: 'x'.repeat(2_000) } })
  if (index % 2 === 0) yield { method: 'POST', target: '/posts', headers: { 'content-type': json }, body, leave: 'in the body' }
  else yield { ...get(index % 4 === 1 ? '/archives.json' : '/archives.xml', '*/*', 200), leave: 'in the answer' }
}

const LIVES = [liveByJson, liveByXml, liveByForms, read, mistake]

/** Returns the visits in turn. Most follow the life of a post; few end the connection. */
export function makeVisit (index: number): Visit {
  if (index % 10 === 7) return garble(Math.floor(index / 10))
  if (index % 20 === 13) return leave(Math.floor(index / 20))
  return (LIVES[index % LIVES.length] as (index: number) => Visit)(index)
}
