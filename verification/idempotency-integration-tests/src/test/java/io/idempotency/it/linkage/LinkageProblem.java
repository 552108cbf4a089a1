package io.idempotency.it.linkage;

/**
 * A reference that the JVM could not link.
 *
 * @param from the class that refers, with slashes
 * @param to the class that is missing or has changed, with slashes
 * @param description what is wrong with it
 */
record LinkageProblem(String from, String to, String description) {

	@Override
	public String toString() {
		return "%s: %s %s".formatted(this.from, this.to, this.description).replace('/', '.');
	}

}
