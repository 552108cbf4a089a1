package io.idempotency.samples.shop.recipes;

import org.jspecify.annotations.Nullable;

/**
 * How one scheme is presented.
 *
 * @param id its name in the path
 * @param title what it is
 * @param where who keeps the duplicates away: {@code library} or {@code database}
 * @param guarantee what it promises
 * @param duplicateSees what the second of two equal calls gets
 * @param key where the call carries its key: {@code header} ({@code Idempotency-Key}) or
 * {@code requestId}
 * @param ticket the path that makes the key by {@code POST}; null where the client makes
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
