package io.idempotency.interceptor;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.security.Principal;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TimeZone;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.oauth2.core.DefaultOAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.core.OAuth2AccessToken;
import org.springframework.security.oauth2.core.OAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.core.OAuth2Token;
import org.springframework.validation.BindingResult;
import org.springframework.validation.MapBindingResult;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What is compared where a client chose the key of a method that handles no request. */
class ArgumentFingerprinterTests {

	private static AnnotationConfigApplicationContext context;

	private final Cart cart = context.getBean(Cart.class);

	private final TestStore store = context.getBean(TestStore.class);

	private final TestRequest request = context.getBean(TestRequest.class);

	@BeforeAll
	static void start() {
		context = MethodAdapterSetup.start(Cart.class);
	}

	@AfterAll
	static void stop() {
		context.close();
	}

	@BeforeEach
	void reset() {
		this.store.reset();
		this.request.reset();
		this.request.headers.put("X-Key", List.of("k1"));
		this.request.body.put("/key", "k1");
		Cart.runs.set(0);
	}

	private static void assertReused(Runnable call) {
		assertThatExceptionOfType(IdempotencyKeyReusedException.class).isThrownBy(call::run);
	}

	@Test
	void theSecondItemOfACartIsNotAnsweredWithTheReceiptOfTheFirst() {
		assertThat(this.cart.add("apple", 1)).isEqualTo("1: 1 apple");
		assertThat(this.cart.add("apple", 1)).isEqualTo("1: 1 apple");
		assertReused(() -> this.cart.add("pear", 1));
		assertReused(() -> this.cart.add("apple", 2));
		assertReused(() -> this.cart.add(null, 1));
		assertThat(Cart.runs).hasValue(1);
	}

	@Test
	void aKeyInTheBodyIsComparedLikewise() {
		assertThat(this.cart.order(new Order("apple", Set.of("a", "b")))).isEqualTo(1);
		assertReused(() -> this.cart.order(new Order("apple", Set.of("a"))));
		assertThat(Cart.runs).hasValue(1);
	}

	@Test
	void theKeyBelongsToTheCaller() {
		this.cart.add("apple", 1);
		assertThat(this.store.lastClaim().key()).isEqualTo(IdempotencyKey
			.of(Cart.class.getName() + ".add(java.lang.String,int)", Caller.principal("owner"), "k1"));
	}

	@Test
	void argumentsAreComparedWhileTheFirstCallRuns() {
		Cart.inside = () -> assertReused(() -> this.cart.inside("pear"));
		this.cart.inside("apple");
		assertThat(Cart.runs).hasValue(1);
	}

	@Test
	void aSetIsEqualInAnyOrder() {
		this.cart.order(new Order("apple", new LinkedHashSet<>(List.of("a", "b", "c"))));
		assertThat(this.cart.order(new Order("apple", new LinkedHashSet<>(List.of("c", "a", "b"))))).isEqualTo(1);
		assertThat(Cart.runs).hasValue(1);
	}

	@Test
	void whatTheContainerHandsInIsNoArgument() {
		Map<String, Object> target = Map.of();
		this.cart.web("apple", () -> "alice", Locale.ENGLISH, TimeZone.getTimeZone("UTC"), new MockHttpServletRequest(),
				new MapBindingResult(target, "one"));
		this.cart.web("apple", () -> "alicia", Locale.GERMAN, TimeZone.getTimeZone("CET"),
				new MockHttpServletRequest("POST", "/other"), new MapBindingResult(target, "two"));
		assertThat(Cart.runs).hasValue(1);
		assertReused(() -> this.cart.web("pear", () -> "alice", Locale.ENGLISH, TimeZone.getTimeZone("UTC"),
				new MockHttpServletRequest(), new MapBindingResult(target, "one")));
	}

	/** Each request of a client may come with a fresh access token. */
	@Test
	void whoCallsIsNoArgumentInWhateverFormItIsHandedOn() {
		this.cart.user("apple", token("first"), new DefaultOAuth2AuthenticatedPrincipal(Map.of("iat", 1), List.of()));
		this.cart.user("apple", token("refreshed"),
				new DefaultOAuth2AuthenticatedPrincipal(Map.of("iat", 2), List.of()));
		assertThat(Cart.runs).hasValue(1);
		assertReused(() -> this.cart.user("pear", token("first"),
				new DefaultOAuth2AuthenticatedPrincipal(Map.of("iat", 1), List.of())));
	}

	private static OAuth2AccessToken token(String value) {
		return new OAuth2AccessToken(OAuth2AccessToken.TokenType.BEARER, value, null, null);
	}

	/** An entity that is a user to Spring Security, too, is what the call is about. */
	@Test
	void aUserIsAnArgument() {
		this.cart.register(new User("alice", "secret", List.of()));
		this.cart.register(new User("alice", "secret", List.of()));
		assertThat(Cart.runs).hasValue(1);
		assertReused(() -> this.cart.register(new User("bob", "secret", List.of())));
	}

	@Test
	void anOptionalCountsByItsValueAndTextDiffersFromAList() {
		this.cart.anything(Optional.of(List.of(1)));
		this.cart.anything(List.of(1));
		assertThat(Cart.runs).hasValue(1);
		assertReused(() -> this.cart.anything("[1]"));
		assertReused(() -> this.cart.anything(Optional.empty()));
	}

	@Test
	void bytesCountByTheirContent() {
		this.cart.bytes(new byte[] { 1, 2 });
		this.cart.bytes(new byte[] { 1, 2 });
		assertThat(Cart.runs).hasValue(1);
		assertReused(() -> this.cart.bytes(new byte[] { 1, 3 }));
	}

	@Test
	void anArgumentThatCannotBeComparedIsAnErrorThatNamesTheMethodTheParameterAndTheCure() {
		assertThatIllegalStateException().isThrownBy(() -> this.cart.anything(new Object()))
			.withMessageContaining("Cart#anything(Object)")
			.withMessageContaining("'value'")
			.withMessageContaining("fingerprint");
		assertThat(this.store.claims()).isEmpty();
		assertThat(Cart.runs).hasValue(0);
	}

	@Test
	void theAnnotationMayCompareLessOrNothing() {
		this.cart.skuOnly("apple", 1);
		this.cart.skuOnly("apple", 2);
		assertThat(Cart.runs).hasValue(1);
		assertReused(() -> this.cart.skuOnly("pear", 1));
		this.cart.none(new ByteArrayInputStream(new byte[0]));
		assertThat(this.store.lastClaim().fingerprint().isNone()).isTrue();
	}

	@Test
	void modesWithoutResultsCompareNothing() {
		this.cart.lock("apple", new ByteArrayInputStream(new byte[0]));
		assertThat(this.store.lastClaim().fingerprint().isNone()).isTrue();
	}

	@Test
	void aTokenIsComparedLikeAnyKeyOfAClient() {
		this.store.issue(IdempotencyKey.ofToken(Caller.principal("owner"), "k1"), java.time.Duration.ofMinutes(1));
		this.cart.token("apple");
		this.cart.token("apple");
		assertThat(Cart.runs).hasValue(1);
		assertReused(() -> this.cart.token("pear"));
	}

	record Order(String sku, Set<String> tags) {
	}

	static class Cart {

		static final AtomicInteger runs = new AtomicInteger();

		static Runnable inside = () -> {
		};

		@Idempotent(header = "X-Key")
		public String add(@Nullable String sku, int quantity) {
			return runs.incrementAndGet() + ": " + quantity + " " + sku;
		}

		@Idempotent(body = "/key")
		public int order(Order order) {
			return runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key")
		public int inside(String sku) {
			inside.run();
			return runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key")
		public int web(String sku, Principal principal, Locale locale, TimeZone timeZone, HttpServletRequest request,
				BindingResult errors) {
			return runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key")
		public int user(String sku, OAuth2Token token, OAuth2AuthenticatedPrincipal principal) {
			return runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key")
		public int register(UserDetails user) {
			return runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key")
		public int anything(Object value) {
			return runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key")
		public int bytes(byte[] content) {
			return runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key", fingerprint = "#sku")
		public int skuOnly(String sku, int quantity) {
			return runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key", fingerprint = "none")
		public int none(InputStream content) {
			return runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key", mode = IdempotencyMode.LOCK)
		public int lock(String sku, InputStream content) {
			return runs.incrementAndGet();
		}

		@Idempotent(header = "X-Key", token = true)
		public int token(String sku) {
			return runs.incrementAndGet();
		}

	}

}
