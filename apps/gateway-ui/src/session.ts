import { createContext, use } from 'react'
import type { DeviceSession } from '@hedgerow/contract/device-interface'

export const SessionContext = createContext<DeviceSession | null>(null)

/** The signed-in person; only below `Frame`. */
export function useVisitor(): DeviceSession {
  const session = use(SessionContext)
  if (session === null) throw new Error('useVisitor is used outside Frame')
  return session
}
