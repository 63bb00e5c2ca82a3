import { beforeEach, describe, expect, it } from 'vitest'
import { createTickets, type Grant, type Tickets } from './tickets.ts'
import type { GatewayHost } from './origins.ts'
import { createUiSessions, type UiSessions } from './ui-sessions.ts'

const grant: Grant = {
  sessionId: 's1',
  userId: 'u1',
  gatewayId: 'abcdefgh2345',
  mode: 'localhost',
  origin: 'http://gw-abcdefgh2345.localhost:8080',
  hubOrigin: 'http://localhost:8080',
}
let nowMs = 0
const clock = () => nowMs

beforeEach(() => {
  nowMs = 1_700_000_000_000
})

describe('a ticket', () => {
  let tickets: Tickets
  beforeEach(() => {
    tickets = createTickets({ clock })
  })

  it('has 192 random bits and works once', () => {
    const ticket = tickets.issue(grant)
    expect(Buffer.from(ticket, 'base64url')).toHaveLength(24)
    expect(tickets.redeem(ticket)).toEqual(grant)
    expect(tickets.redeem(ticket)).toBeUndefined()
  })

  it('works for 30 s', () => {
    const [early, late] = [tickets.issue(grant), tickets.issue(grant)]
    nowMs += 29_999
    expect(tickets.redeem(early)).toEqual(grant)
    nowMs += 1
    expect(tickets.redeem(late)).toBeUndefined()
  })

  it('ends with the hub session', () => {
    const ticket = tickets.issue(grant)
    const other = tickets.issue({ ...grant, sessionId: 's2' })
    tickets.endSession('s1')
    expect(tickets.redeem(ticket)).toBeUndefined()
    expect(tickets.redeem(other)).toBeDefined()
  })

  it('is dropped for newer ones of the same session, so one person cannot fill the memory or push others out', () => {
    const other = tickets.issue({ ...grant, sessionId: 's2' })
    const many = Array.from({ length: 50 }, () => tickets.issue(grant))
    expect(many.map((ticket) => tickets.redeem(ticket)).filter(Boolean)).toHaveLength(20)
    expect(tickets.redeem(other)).toBeDefined()
  })
})

describe('a session on a gateway’s origin', () => {
  const at: GatewayHost = {
    gatewayId: grant.gatewayId,
    mode: 'localhost',
    authority: 'gw-abcdefgh2345.localhost:8080',
  }
  let sessions: UiSessions
  beforeEach(() => {
    sessions = createUiSessions({ clock })
  })

  it('lasts 3600 s', () => {
    const token = sessions.start(grant)
    nowMs += 3_599_999
    expect(sessions.find(['planted', token], at)).toMatchObject(grant)
    nowMs += 1
    expect(sessions.find([token], at)).toBeUndefined()
  })

  it('is valid only for its gateway, host and port', () => {
    const token = sessions.start(grant)
    expect(sessions.find([token], { ...at, gatewayId: 'zzzzzzzz7777' })).toBeUndefined()
    expect(sessions.find([token], { ...at, authority: 'gw-abcdefgh2345.localhost:9090' })).toBeUndefined()
    expect(sessions.find([token], { ...at, mode: 'wildcard' })).toBeUndefined()
    expect(sessions.find([token], at)).toBeDefined()
  })

  it('accepts its host also with the default port', () => {
    const token = sessions.start({ ...grant, origin: 'https://gw.example.net' })
    expect(sessions.find([token], { ...at, authority: 'gw.example.net:443' })).toBeDefined()
    expect(sessions.find([token], { ...at, authority: 'gw.example.net:80' })).toBeUndefined()
  })

  it('ends with the hub session', () => {
    const token = sessions.start(grant)
    sessions.endSession('s1')
    expect(sessions.find([token], at)).toBeUndefined()
  })
})
