package io.idempotency.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.StoredResult;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of values: every key and every result is returned unchanged, and different keys
 * never share a record.
 */
interface ValueRules extends StoreUnderTest {

	@Test
	default void resultOfEveryByteComesBack() {
		byte[] bytes = new byte[512];
		for (int i = 0; i < bytes.length; i++) {
			bytes[i] = (byte) i;
		}
		expectRoundTrip(new StoredResult("test", bytes));
	}

	@Test
	default void emptyResultComesBack() {
		expectRoundTrip(new StoredResult("test", new byte[0]));
	}

	@Test
	default void resultOfAMegabyteComesBack() {
		byte[] bytes = new byte[1 << 20];
		new Random(42).nextBytes(bytes);
		expectRoundTrip(new StoredResult("test", bytes));
	}

	@Test
	default void formatOfAResultComesBack() {
		expectRoundTrip(new StoredResult("a-format.of/32:characters;+_=012", new byte[] { 1 }));
	}

	@Test
	default void twoKeysNeverMeet() {
		Call one = Call.fresh(this).acquire();
		Call two = Call.fresh(this);
		Expect.acquired("absent, claim of another key: Acquired", two.claim());
		one.complete("one");
		Expect.inProgress("RUNNING after another key is done: nothing has changed", two.duplicate().claim());
		two.release();
		Expect.completed("DONE after another key is released: the result stands", "one", one.duplicate().claim());
	}

	@Test
	default void keysThatLookAlikeNeverMeet() {
		String unique = UUID.randomUUID().toString();
		List<IdempotencyKey> keys = List.of(IdempotencyKey.of(unique + ":b", Caller.GLOBAL, "c"),
				IdempotencyKey.of(unique, Caller.GLOBAL, "b:c"), IdempotencyKey.of(unique, Caller.GLOBAL, "c"),
				IdempotencyKey.of(unique, Caller.GLOBAL, List.of("b", "c")),
				IdempotencyKey.of(unique, Caller.GLOBAL, List.of("b,c")),
				IdempotencyKey.of(unique, Caller.GLOBAL, List.of("b", "", "c")),
				IdempotencyKey.of(unique, Caller.GLOBAL, "B:C"), IdempotencyKey.of(unique, Caller.GLOBAL, "b:c "),
				IdempotencyKey.of(unique, Caller.GLOBAL, "b:\u0107"),
				IdempotencyKey.of(unique, Caller.GLOBAL, "b:c\u0301"));
		expectApart(keys);
	}

	@Test
	default void callersNeverMeet() {
		String value = UUID.randomUUID().toString();
		List<Caller> callers = List.of(Caller.GLOBAL, Caller.ANONYMOUS, Caller.principal(""), Caller.scope(""),
				Caller.principal("GLOBAL"), Caller.principal("ANONYMOUS"), Caller.principal("anna"),
				Caller.principal("Anna"), Caller.scope("anna"), Caller.principal("anna "));
		expectApart(callers.stream().map((caller) -> IdempotencyKey.of("contract", caller, value)).toList());
	}

	@Test
	default void namespacesNeverMeet() {
		String value = UUID.randomUUID().toString();
		List<Namespace> namespaces = List.of(Namespace.NONE, new Namespace("a"), new Namespace("A"),
				new Namespace("a:contract"), new Namespace("{a}"), new Namespace(" "), new Namespace("日本"),
				new Namespace("n".repeat(1000)));
		expectApart(namespaces.stream().map((name) -> name.key("contract", Caller.GLOBAL, value)).toList());
	}

	@Test
	default void keysAndOperationsMayHoldAnyCharacter() {
		String unique = UUID.randomUUID().toString();
		List<IdempotencyKey> keys = new ArrayList<>();
		for (String text : List.of("", " ", "\u0000", "'", "\"", "\\", "%", "_", "*", "?", "[a]", "{b}", "{", "}", ":",
				"/../", "\r\n", "\t", "ä", "日本", "\uD83D\uDE00", "; drop table x; --", "${x}", "#{x}")) {
			keys.add(IdempotencyKey.of("contract", Caller.GLOBAL, unique + text));
			keys.add(IdempotencyKey.of("contract" + text, Caller.principal(text), unique));
		}
		expectApart(keys);
	}

	@Test
	default void keysMayBeLong() {
		String unique = UUID.randomUUID().toString();
		String text = unique + "x".repeat(10_000);
		String operation = "com.example.AVeryLongPackageName.".repeat(8) + "Orders.create(java.lang.String)";
		expectApart(List.of(IdempotencyKey.of("contract", Caller.GLOBAL, text + "a"),
				IdempotencyKey.of("contract", Caller.GLOBAL, text + "b"),
				IdempotencyKey.of(operation, Caller.GLOBAL, text),
				IdempotencyKey.of(operation + "2", Caller.GLOBAL, text),
				IdempotencyKey.of(operation, Caller.principal("p".repeat(1000)), text)));
	}

	@Test
	default void leaseAndRetentionMayBeYears() {
		Duration years = Duration.ofDays(3650);
		Call call = Call.fresh(this).lease(years).retention(years).acquire();
		Expect.accepted("RUNNING, renew for years", call.renew(years));
		Expect.accepted("RUNNING, complete with a retention of years", call.complete("done", years));
		ClaimResult answer = call.duplicate().claim();
		assertThat(answer).as("DONE with a retention of years").isInstanceOf(ClaimResult.Completed.class);
		assertThat(((ClaimResult.Completed) answer).rest()).as("rest of a retention of years")
			.isBetween(years.minusDays(1), years);
	}

	private void expectRoundTrip(StoredResult result) {
		Call first = Call.fresh(this).acquire();
		Expect.accepted("RUNNING, complete by the owner", first.complete(result, Call.LONG));
		ClaimResult answer = first.duplicate(anotherStore()).claim();
		assertThat(answer).as("DONE, claim: Completed").isInstanceOf(ClaimResult.Completed.class);
		StoredResult replayed = ((ClaimResult.Completed) answer).result();
		assertThat(replayed.format()).as("format of the result").isEqualTo(result.format());
		assertThat(replayed.bytes()).as("bytes of the result").isEqualTo(result.bytes());
	}

	/**
	 * Each key is claimed and completed independently of the others, and has a separate
	 * result.
	 */
	private void expectApart(List<IdempotencyKey> keys) {
		List<Call> calls = keys.stream().map((key) -> Call.of(this, key)).toList();
		for (Call call : calls) {
			Expect.acquired("absent, claim of a key that only looks like another: Acquired", call.claim());
		}
		for (int i = 0; i < calls.size(); i++) {
			Expect.accepted("RUNNING, complete by the owner", calls.get(i).complete("result " + i));
		}
		for (int i = 0; i < calls.size(); i++) {
			Expect.completed("DONE: each key has its own result", "result " + i, calls.get(i).duplicate().claim());
		}
	}

}
