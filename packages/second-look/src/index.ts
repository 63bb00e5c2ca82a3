export { parseAnswer, unsure, type Look } from './answer.ts'
export { queryEndpoint, type Endpoint, type EndpointAnswer } from './endpoint.ts'
export type { Question } from './question.ts'
