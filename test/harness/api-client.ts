import { createClient, type Client } from '@hedgerow/client'
import { login } from '@hedgerow/contract'

/** Signs in once, at the first call that needs it. */
export function createApiAs(origin: string, credentials: { username: string; password: string }): Client {
  let token: Promise<string> | undefined
  const signIn = async () => {
    const answer = await createClient(origin)(login, { body: credentials })
    if ('challenge' in answer) throw new Error(`${credentials.username} signs in with two-factor`)
    return answer.accessToken
  }
  return createClient(origin, () => (token ??= signIn()))
}
