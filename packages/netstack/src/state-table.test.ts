import { describe, expect, it } from 'vitest'
import type { ConnectionState } from './connection.ts'
import { ScriptedPeer } from './scripted-peer.ts'

const shutdown = (peer: ScriptedPeer): string[] => {
  peer.connection!.shutdown()
  return peer.sends()
}

/** How each state is reached; the peer's next sequence number is then `seq`, and it has acknowledged `ack` of ours. */
const reach: Record<Exclude<ConnectionState, 'closed'>, () => { peer: ScriptedPeer; seq: number; ack: number }> = {
  'syn-sent': () => {
    const peer = new ScriptedPeer().connect()
    peer.sends()
    return { peer, seq: 0, ack: 1 }
  },
  'syn-received': () => {
    const peer = new ScriptedPeer().connect()
    peer.sends()
    peer.says('SYN', { seq: 0 })
    return { peer, seq: 1, ack: 1 }
  },
  established: () => ({ peer: ScriptedPeer.established(), seq: 1, ack: 1 }),
  'fin-wait-1': () => {
    const peer = ScriptedPeer.established()
    shutdown(peer)
    return { peer, seq: 1, ack: 1 }
  },
  'fin-wait-2': () => {
    const peer = ScriptedPeer.established()
    shutdown(peer)
    peer.says('ACK', { seq: 1, ack: 2 })
    return { peer, seq: 1, ack: 2 }
  },
  'close-wait': () => {
    const peer = ScriptedPeer.established()
    peer.says('FIN,ACK', { seq: 1, ack: 1 })
    return { peer, seq: 2, ack: 1 }
  },
  closing: () => {
    const peer = ScriptedPeer.established()
    shutdown(peer)
    peer.says('FIN,ACK', { seq: 1, ack: 1 })
    return { peer, seq: 2, ack: 1 }
  },
  'last-ack': () => {
    const peer = ScriptedPeer.established()
    peer.says('FIN,ACK', { seq: 1, ack: 1 })
    shutdown(peer)
    return { peer, seq: 2, ack: 1 }
  },
  'time-wait': () => {
    const peer = ScriptedPeer.established()
    shutdown(peer)
    peer.says('FIN,ACK', { seq: 1, ack: 2 })
    return { peer, seq: 2, ack: 2 }
  },
}

type Event = (at: ReturnType<(typeof reach)['established']>) => string[]

const events: Record<string, Event> = {
  'ACK of FIN': ({ peer, seq }) => peer.says('ACK', { seq, ack: 2 }),
  FIN: ({ peer, seq, ack }) => peer.says('FIN,ACK', { seq, ack }),
  RST: ({ peer, seq, ack }) => peer.says('RST,ACK', { seq, ack }),
  'RST beside': ({ peer, seq, ack }) => peer.says('RST,ACK', { seq: seq + 9, ack: ack + 9 }),
  SYN: ({ peer, seq }) => peer.says('SYN', { seq }),
  close: ({ peer }) => shutdown(peer),
  abort: ({ peer }) => {
    peer.take(peer.stack.abort(peer.connection!))
    return peer.sends()
  },
}

/**
 * RFC 9293 §3.10.4 (close), §3.10.5 (abort) and §3.10.7.3-4, with the challenges of RFC 5961: the state that follows, -
 * for the same, and what is answered. Only in LAST-ACK, CLOSING and TIME-WAIT is an abort silent. An acknowledgment of
 * a FIN that was never sent is challenged, and resets a handshake.
 */
const TABLE = `
             | ACK of FIN | FIN             | RST    | RST beside | SYN                   | close               | abort
syn-sent     | - +RST     | -               | closed | -          | syn-received +SYN,ACK | -                   | closed
syn-received | - +RST     | close-wait +ACK | closed | - +ACK     | - +ACK                | -                   | closed +RST,ACK
established  | - +ACK     | close-wait +ACK | closed | - +ACK     | - +ACK                | fin-wait-1 +FIN,ACK | closed +RST,ACK
fin-wait-1   | fin-wait-2 | closing +ACK    | closed | - +ACK     | - +ACK                | -                   | closed +RST,ACK
fin-wait-2   | -          | time-wait +ACK  | closed | - +ACK     | - +ACK                | -                   | closed +RST,ACK
close-wait   | - +ACK     | - +ACK          | closed | - +ACK     | - +ACK                | last-ack +FIN,ACK   | closed +RST,ACK
closing      | time-wait  | - +ACK          | closed | - +ACK     | - +ACK                | -                   | closed
last-ack     | closed     | - +ACK          | closed | - +ACK     | - +ACK                | -                   | closed
time-wait    | -          | - +ACK          | -      | - +ACK     | - +ACK                | -                   | closed
`

describe('the state table', () => {
  const [heads = [], ...rows] = TABLE.trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split('|').map((cell) => cell.trim()))
  for (const [state = '', ...cells] of rows) {
    for (const [column, expected] of cells.entries()) {
      const event = heads[column + 1]!
      it(`leads from ${state} by ${event} to ${expected}`, () => {
        const at = reach[state as keyof typeof reach]()
        expect(at.peer.connection!.state).toBe(state)
        const answers = events[event]!(at).map((sent) => ` +${sent.split(' ')[0]}`)
        const next = at.peer.connection!.state
        expect((next === state ? '-' : next) + answers.join('')).toBe(expected)
      })
    }
  }

  it('names every state but CLOSED and every event', () => {
    expect(rows.map(([state]) => state)).toEqual(Object.keys(reach))
    expect(heads.slice(1)).toEqual(Object.keys(events))
  })
})
