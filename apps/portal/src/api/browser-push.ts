/**
 * This browser's push subscription. It ends with Logout, continues in the next session of the same person, and ends
 * when somebody else signs in here.
 */
import type { BodyOf } from '@hedgerow/contract'
import { subscribePush } from 'virtual:contract-calls'
import { api } from './client.ts'

const PERSON_KEY = 'pushFor'

type Body = BodyOf<typeof subscribePush>

export function bodyOf(subscription: PushSubscription): Body {
  const { endpoint = '', keys } = subscription.toJSON()
  return { endpoint, keys: { p256dh: keys?.['p256dh'] ?? '', auth: keys?.['auth'] ?? '' } }
}

/** The person who asked for push messages in this browser. */
export const rememberPushFor = (userId: string): void => localStorage.setItem(PERSON_KEY, userId)

export async function endPush(): Promise<void> {
  localStorage.removeItem(PERSON_KEY)
  await (await findSubscription())?.unsubscribe()
}

/** Call it after a sign-in: it moves the subscription to the new session, because the hub ends it with the old one. */
export async function continuePush(userId: string): Promise<void> {
  const person = localStorage.getItem(PERSON_KEY)
  if (person === null) return
  if (person !== userId) return endPush()
  const subscription = await findSubscription()
  if (subscription) await api(subscribePush, { body: bodyOf(subscription) })
}

async function findSubscription(): Promise<PushSubscription | undefined> {
  if (!('serviceWorker' in navigator) || !('PushManager' in window)) return undefined
  const registration = await navigator.serviceWorker.getRegistration('/')
  return (await registration?.pushManager.getSubscription()) ?? undefined
}
