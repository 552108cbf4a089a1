package io.idempotency.samples.shop.recipes;

import org.jspecify.annotations.Nullable;

/**
 * The presentation of one scheme.
 *
 * @param id its name in the path
 * @param title its title
 * @param where the part that rejects duplicates: {@code library} or {@code database}
 * @param guarantee its guarantee
 * @param duplicateSees the response to the second of two equal calls
 * @param key the position of the key: {@code header} ({@code Idempotency-Key}) or
 * {@code requestId}
 * @param ticket the path that creates the key by {@code POST}; null if the client creates
 * it
 */
record Scheme(String id, String title, String where, String guarantee, String duplicateSees, String key,
		@Nullable String ticket) {

	static Scheme inLibrary(String id, String title, String guarantee, String duplicateSees) {
		return new Scheme(id, title, "library", guarantee, duplicateSees, "requestId", null);
	}

	static Scheme inDatabase(String id, String title, String guarantee, String duplicateSees) {
		return new Scheme(id, title, "database", guarantee, duplicateSees, "requestId", null);
	}

	Scheme withKeyInHeader() {
		return new Scheme(this.id, this.title, this.where, this.guarantee, this.duplicateSees, "header", this.ticket);
	}

	Scheme withTicket(String path) {
		return new Scheme(this.id, this.title, this.where, this.guarantee, this.duplicateSees, this.key, path);
	}

}
