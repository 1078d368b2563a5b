/** Reading parts of a request, as every translation does it. */
export * from '../../../json/read-fields.ts'
