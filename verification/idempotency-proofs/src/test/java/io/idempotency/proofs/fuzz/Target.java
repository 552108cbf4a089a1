package io.idempotency.proofs.fuzz;

/** The handlers of {@link GuardedEchoes}. */
enum Target {

	BYTES("bytes", Like.ANY), JSON("json", Like.JSON), FORM("form", Like.FORM), FORM_MAP("form-map", Like.FORM),
	LATE_FORM("late-form", Like.FORM), STREAM("stream", Like.ANY), UNREAD("unread", Like.ANY),
	BODY_KEY("body-key", Like.JSON), FIELD_KEY("field-key", Like.FORM), SPEL_KEY("spel-key", Like.ANY),
	TOKEN("token", Like.ANY), OPTIONAL("optional", Like.ANY), REJECT("reject", Like.ANY), LOCK("lock", Like.ANY),
	WAITING("waiting", Like.ANY), STATUS("status", Like.ANY);

	final String path;

	/** What bodies it gets most of the time. */
	final Like like;

	Target(String path, Like like) {
		this.path = path;
		this.like = like;
	}

	/** Whether a duplicate gets the first answer. */
	boolean replays() {
		return this != REJECT && this != LOCK;
	}

	/** A kind of bodies. */
	enum Like {

		JSON, FORM, ANY

	}

}
