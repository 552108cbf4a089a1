package io.idempotency.it.schemes;

/** One scheme: its tests, for any store. */
interface Scheme {

	Stage stage();

}
