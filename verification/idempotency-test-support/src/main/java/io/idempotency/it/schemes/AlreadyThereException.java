package io.idempotency.it.schemes;

/** As a unique index of the business data would say it. */
class AlreadyThereException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	AlreadyThereException() {
		super("there is one already");
	}

}
