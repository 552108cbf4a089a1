package io.idempotency.key;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class CallerIdTests {

	private static final Namespace SHOP = new Namespace("shop");

	@Test
	void everyKeyOfACallerStartsWithItsId() {
		Caller caller = Caller.principal("alice").with("issuer", List.of("https://issuer"));
		String id = SHOP.idOf(caller).toString();
		assertThat(id).hasSize(24);
		for (String operation : List.of("pay", "order")) {
			assertThat(SHOP.key(operation, caller, "1").hashHex()).hasSize(64).startsWith(id);
		}
		assertThat(SHOP.token(caller, "t").hashHex()).startsWith(id);
		assertThat(SHOP.key("pay", Caller.GLOBAL, "1").hashHex()).startsWith(SHOP.idOf(Caller.GLOBAL).toString());
	}

	@Test
	void differentCallersHaveDifferentIds() {
		Set<CallerId> ids = new HashSet<>();
		List<Caller> callers = List.of(Caller.GLOBAL, Caller.ANONYMOUS, Caller.principal("alice"),
				Caller.principal("bob"), Caller.scope("alice"), Caller.ANONYMOUS.with("header X-Tenant", List.of("a")),
				Caller.principal("alice").with("issuer", List.of("a")),
				Caller.principal("alice").with("issuer", List.of()));
		callers.forEach((caller) -> ids.add(SHOP.idOf(caller)));
		assertThat(ids).hasSize(callers.size());
		assertThat(new Namespace("other").idOf(Caller.principal("alice")))
			.isNotEqualTo(SHOP.idOf(Caller.principal("alice")));
	}

	@Test
	void keysOfOneCallerDifferInTheRest() {
		Caller alice = Caller.principal("alice");
		assertThat(SHOP.key("pay", alice, "1")).isNotEqualTo(SHOP.key("pay", alice, "2"));
		assertThat(SHOP.key("pay", alice, "1").toString()).isNotEqualTo(SHOP.key("pay", alice, "2").toString())
			.startsWith("shop:pay:");
	}

	@Test
	void onlyNamesMakeOneCaller() {
		assertThat(SHOP.idOf(Caller.GLOBAL).isOneCaller()).isFalse();
		assertThat(SHOP.idOf(Caller.ANONYMOUS).isOneCaller()).isFalse();
		assertThat(SHOP.idOf(Caller.principal("")).isOneCaller()).isTrue();
		assertThat(SHOP.idOf(Caller.ANONYMOUS.with("header X-Tenant", List.of("a"))).isOneCaller()).isTrue();
	}

	@Test
	void idIsReadFromItsText() {
		CallerId id = SHOP.idOf(Caller.principal("alice"));
		assertThat(CallerId.parse(id.toString())).isEqualTo(id).hasSameHashCodeAs(id);
		assertThat(CallerId.parse(id.toString()).toBytes()).isEqualTo(id.toBytes()).hasSize(CallerId.LENGTH);
		for (String text : List.of("", "alice", "A".repeat(24), "0".repeat(23), "0".repeat(25))) {
			assertThatIllegalArgumentException().isThrownBy(() -> CallerId.parse(text));
		}
	}

	@Test
	void labelsAreReadFromTheirText() {
		assertThat(SHOP.label("pay")).isEqualTo(SHOP.key("pay", Caller.GLOBAL, "1").label());
		assertThat(SHOP.operation("shop:pay")).isEqualTo("pay");
		assertThat(SHOP.operation("other:pay")).isEqualTo("other:pay");
		assertThat(Namespace.NONE.operation(Namespace.NONE.label("pay"))).isEqualTo("pay");
	}

}
