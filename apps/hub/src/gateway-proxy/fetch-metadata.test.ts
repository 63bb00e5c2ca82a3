import { describe, expect, it } from 'vitest'
import { isCrossOriginRequest, isNavigation } from './fetch-metadata.ts'

const origin = 'http://192.168.1.5:8100'
const visit = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

describe('a request counts as cross-origin', () => {
  it.each([
    ['a form that another gateway on the host posts', 'POST', { origin: 'http://192.168.1.5:8101' }],
    ['a form whose page hides its origin', 'POST', { origin: 'null' }],
    ['a post from another site', 'POST', { ...visit, 'sec-fetch-site': 'cross-site', origin: 'https://evil.net' }],
    [
      'an image of a page of the same site',
      'GET',
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    ],
    [
      'a frame in another page',
      'GET',
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    ],
    ['a script of another port over plain http', 'GET', { accept: '*/*', referer: 'http://192.168.1.5:8101/' }],
    ['a cross-origin read', 'GET', { origin: 'http://192.168.1.5:8101' }],
  ])('%s', (_what, method, headers) => expect(isCrossOriginRequest(method, headers, origin)).toBe(true))

  it.each([
    ['its own post', 'POST', { origin }],
    ['its own post from a page that hides its origin', 'POST', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
    ['an address that the person typed', 'GET', { ...visit, 'sec-fetch-site': 'none' }],
    ['a link that the person followed', 'GET', { ...visit, 'sec-fetch-site': 'cross-site' }],
    ['a link that the person followed over plain http', 'GET', { accept: 'text/html,*/*', referer: 'http://x.net/' }],
    ['its own image over plain http', 'GET', { accept: 'image/*', referer: `${origin}/page` }],
    ['its own image, from a browser without these headers', 'GET', {}],
  ])('but not %s', (_what, method, headers) => expect(isCrossOriginRequest(method, headers, origin)).toBe(false))
})

describe('a page for a person', () => {
  it.each([
    ['GET', { ...visit, accept: '*/*' }, true],
    ['GET', { accept: 'text/html,application/xhtml+xml' }, true],
    ['POST', { accept: 'text/html' }, false],
    ['GET', { accept: 'application/json' }, false],
    ['GET', { accept: 'text/html', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, false],
    ['GET', { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, false],
  ])('%s with %o: %s', (method, headers, expected) => expect(isNavigation(method, headers)).toBe(expected))
})
