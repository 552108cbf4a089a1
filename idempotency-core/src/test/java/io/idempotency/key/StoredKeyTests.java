package io.idempotency.key;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What a store knows a key by. The hashes were computed by another program: a version
 * that makes another hash of one of these keys lets retries of older calls run again.
 */
class StoredKeyTests {

	private static final Namespace SHOP = new Namespace("shop");

	private static final Caller ALICE = Caller.principal("alice");

	@ParameterizedTest(name = "{0}")
	@MethodSource("keys")
	void hashNeverChanges(String part, IdempotencyKey key, String hash) {
		assertThat(key.hashHex()).isEqualTo(hash);
	}

	static Stream<Arguments> keys() {
		return Stream.of(
				arguments("no namespace, nobody's", Namespace.NONE.key("pay", Caller.GLOBAL, "1"),
						"0000000000000000000000008d3a443d834f324b1173fbcbb6c35f79dc8ab41a"),
				arguments("no namespace, a principal", Namespace.NONE.key("order.place", ALICE, "k-1"),
						"d21152a4c443e6b895aa11cab83ee7513fff2b9e18377dfe6833e47ec3283bd6"),
				arguments("a namespace, nobody's", SHOP.key("pay", Caller.GLOBAL, "1"),
						"0000000000000000000000004b31654e555094f3eb64170dc0cb316bdba4d527"),
				arguments("a namespace, anonymous", SHOP.key("pay", Caller.ANONYMOUS, "1"),
						"000000000000000000000001e086c27b9c8a464af78a1196dffc11f1419255ac"),
				arguments("a namespace, a principal", SHOP.key("pay", ALICE, "1"),
						"8f51d99e486c39c5559ae2465552a90c772841d6cb3f39602d3af42f03dc43bc"),
				arguments("a scope", SHOP.key("pay", Caller.scope("KAFKA:billing"), "1"),
						"4514938ecc4267c95df5526be495f5ef12da296a4c5b7bf75757bb08f1562672"),
				arguments("an issuer", SHOP.key("pay", ALICE.with("issuer", List.of("https://login.example")), "1"),
						"7e30eeb183c6863adda14746d836aecbcd2a9ef9080d81d347c6fbced577917f"),
				arguments("a principal and a tenant", SHOP.key("pay", ALICE.with("header x-tenant", List.of("a")), "1"),
						"4ab966f21fd24b430fb4658c5e98518a2d3b2f65dc264a919207acbb677d648b"),
				arguments("an issuer and two headers, one absent and one twice",
						SHOP.key("pay",
								ALICE.with("issuer", List.of("https://login.example"))
									.with("header x-tenant", List.of())
									.with("header x-unit", List.of("a", "b")),
								"1"),
						"679cd074a168a9b5903c58defc5861db7eb9d6c038319be4ed2c645357b568f7"),
				arguments("a list of parts", SHOP.key("pay", Caller.GLOBAL, List.of("a", "b")),
						"0000000000000000000000007e84bdcd82776ec078265046efd689c2f5d2c5ef"),
				arguments("a token", SHOP.token(ALICE, "secret"),
						"8f51d99e486c39c5559ae2462b6e59481c647b16c8bf3d8b64fb7dedf9fb83db"),
				arguments("a token without a namespace", Namespace.NONE.token(Caller.ANONYMOUS, "secret"),
						"00000000000000000000000158de095a47d3e10f5b7e8fc2484f842635dac01c"),
				arguments("other letters",
						new Namespace("café").key("zahlen.für", Caller.principal("Åsa"), "Straße 😀"),
						"1375754d65b1f48eed8d5968e6f3e824ca9f5c6e1cef289d27d34d1ff3ef4ae3"),
				arguments("a long part", SHOP.key("pay", ALICE, "long ".repeat(200)),
						"8f51d99e486c39c5559ae2468a4fee5583de57e19744c323ddb156a8caae49ca"));
	}

	/** UTF-8 has no bytes for them, and a question mark in their place is another key. */
	@Test
	void halvesOfCharactersAreNoQuestionMarks() {
		List<String> texts = List.of("a?", "a\ud83d", "a\ude00", "a??", "a\ud83d?", "a\ude00\ud83d", "a\ud83d\ude00",
				"a\ud83d\ud83d", "a\ufffd", "?".repeat(300), "\ud83d".repeat(300));
		assertThat(texts).extracting((text) -> SHOP.key("pay", ALICE, text).hashHex()).doesNotHaveDuplicates();
		assertThat(texts).extracting((text) -> SHOP.idOf(Caller.principal(text))).doesNotHaveDuplicates();
		assertThat(texts).extracting((text) -> Fingerprint.of("test1").add(text).build()).doesNotHaveDuplicates();
	}

	@Test
	void rowsCoverEachKindOfCaller() {
		assertThat(keys()).extracting((row) -> ((IdempotencyKey) row.get()[1]).caller().kind())
			.contains(Caller.Kind.values());
	}

}
