export type { DropReason } from '../drop.ts'
export { type ListenOptions, type ConnectOptions, type Stack, type StackOptions, createStack } from './stack.ts'
export type { TcpStream } from './tcp-stream.ts'
