package io.idempotency.it.jdbc;

/** Records of {@code transaction = JOIN} on each product. */
@EachDatabase
class JoinTests extends JoinScenarios {

	JoinTests(TestDatabase database) {
		super(database);
	}

}
