import { expect, test } from 'vitest'
import { ConfigError } from '../config.ts'
import { readPostgresAddress } from './postgres-address.ts'

const server = (host: string, port = 5432) => ({ host, port })

test.each([
  ['postgres://hub:secret@db/hub', { servers: [server('db')], user: 'hub', password: 'secret', database: 'hub' }],
  ['postgresql://hub@[2001:db8::1]:6432/hub', { servers: [server('2001:db8::1', 6432)] }],
  ['postgres://hub@/hub?host=/var/run/postgresql', { servers: [server('/var/run/postgresql')], database: 'hub' }],
  ['postgres:///hub?host=/run/pg&port=5433&user=me', { servers: [server('/run/pg', 5433)], user: 'me' }],
  ['postgres://hub@%2Frun%2Fpg/hub', { servers: [server('/run/pg')], mustWrite: false }],
  ['postgres://hub@a:1,b,[::1]:3/hub', { servers: [server('a', 1), server('b'), server('::1', 3)], mustWrite: true }],
  ['postgres://hub@a,b/hub?target_session_attrs=any', { mustWrite: false }],
  ['postgres://hub@a/hub?target_session_attrs=read-write', { mustWrite: true }],
  ['postgres:///hub?user=hub&host=a,b&port=1,2', { servers: [server('a', 1), server('b', 2)] }],
  ['postgres:///hub?user=hub&host=a,b&port=7', { servers: [server('a', 7), server('b', 7)] }],
  ['postgres://hub:p%40ss%2F%25@db/hub', { password: 'p@ss/%' }],
  // What nobody encoded, and what the URL standard would cut at the number sign.
  ['postgres://hub:100%@#1@db/h', { user: 'hub', password: '100%@#1', servers: [server('db')], database: 'h' }],
  ['postgres://hub@db', { database: 'hub' }],
  ['postgres://hub@db/hub', { sslMode: 'prefer' }],
  ['postgres://hub@db/hub?sslmode=require&sslrootcert=/ca.pem', { sslMode: 'require', tls: { rootCert: '/ca.pem' } }],
  ['postgres://hub@db/hub?sslrootcert=system', { sslMode: 'verify-full' }],
  ['postgres://hub@db/hub?ssl=true', { sslMode: 'require' }],
  ['postgres://hub@db/hub?ssl=false', { sslMode: 'disable' }],
  ['postgres://hub@db/hub?uselibpqcompat=true&sslmode=no-verify', { sslMode: 'require' }],
  ['postgres://hub@db/hub?connect_timeout=20', { connectTimeoutMs: 20_000 }],
  [
    'postgres://hub@db/hub?application_name=hub+1&options=-c%20geqo%3Doff',
    { session: { application_name: 'hub+1', options: '-c geqo=off' } },
  ],
])('%s is read as libpq reads it', (url, expected) => {
  expect(readPostgresAddress(url)).toMatchObject(expected)
})

test.each([
  ['postgres://hub:hidden@db/hub?sslmode=required', /sslmode: disable, allow, prefer, require, verify-ca, verify-full/],
  ['postgres://hub:hidden@db/hub?ssl_mode=require', /only have these parameters .*sslmode/],
  ['postgres://hub:hidden@db/hub?sslmode=require&channel_binding=require', /parameter channel_binding.*verify-full/],
  ['postgres://hub:hidden@db/hub?gssencmode=disable', /parameter gssencmode, which the hub does not have/],
  ['postgres://hub:hidden?x=hidden@db/hub', /only have these parameters/],
  ['postgres://hub:hidden@db/hub?sslmode=require&sslrootcert=system', /sslmode=verify-full/],
  ['postgres://hub:hidden@db/hub?sslcert=/hidden.pem', /both sslcert and sslkey/],
  ['postgres://hub:hidden@db/hub?target_session_attrs=standby', /read-write, primary or any/],
  ['postgres://hub:hidden@db/hub?client_encoding=LATIN1', /client_encoding must be UTF8/],
  ['postgres://hub:hidden@db:hidden/hub', /port that is no number/],
  ['postgres://hub:hidden@db:70000/hub', /port that is no number/],
  ['postgres://hub:hidden@a,b/hub?port=1,2,3', /one port, or one for each host/],
  ['postgres://hub:%ffhidden@db/hub', /percent signs/],
  ['postgres://hub:hidden@db/hub?connect_timeout=soon', /a number as connect_timeout/],
])('%s is refused in words that hide its password', (url, words) => {
  const read = () => readPostgresAddress(url)
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(words)
  expect(read).not.toThrow(/hidden/)
})
