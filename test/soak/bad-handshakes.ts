/** Sends initiations with a wrong mac1 to a UDP port of this machine: `port perSecond seconds`. Prints how many. */
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { atRate } from '../../bench/wireguard-blaster.ts'

/** WireGuard paper, section 5.4.2. */
const INITIATION_BYTES = 148
const TYPE_INITIATION = 1

const [port, perSecond, seconds] = process.argv.slice(2).map(Number)
const socket = createSocket('udp4')
const initiation = randomBytes(INITIATION_BYTES)
initiation.writeUInt32LE(TYPE_INITIATION)
await new Promise<void>((resolve) => socket.connect(port!, '127.0.0.1', resolve))
socket.on('error', () => undefined)
const sent = await atRate({ perSecond: perSecond!, seconds: seconds! }, () => socket.send(initiation, () => undefined))
console.log(sent)
socket.close()
