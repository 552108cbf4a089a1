package io.idempotency.web;

import java.security.Principal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.ScopeMode;
import io.idempotency.RetryAdvice;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RequestCallerResolver;
import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.authentication.AbstractAuthenticationToken;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;
import org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken;
import org.springframework.security.oauth2.core.ClaimAccessor;
import org.springframework.security.oauth2.core.DefaultOAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.core.OAuth2AccessToken;
import org.springframework.security.oauth2.core.OAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.core.user.DefaultOAuth2User;
import org.springframework.security.oauth2.server.resource.authentication.BearerTokenAuthentication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class CallersTests {

	private final WebMvcCallerResolver callers = callers(ScopeMode.PRINCIPAL, Set.of());

	@Test
	void callersAreToldApartByTheirNames() {
		assertThat(of(() -> "alice")).isEqualTo(Caller.principal("alice")).isNotEqualTo(of(() -> "bob"));
		assertThat(of(null)).isEqualTo(Caller.ANONYMOUS);
	}

	/** Nobody else could tell them apart, where no chain of Spring Security is. */
	@Test
	void callersOfTheThreadsLoginAreToldApart() {
		try {
			log(new UsernamePasswordAuthenticationToken("alice", "secret", List.of()));
			assertThat(of(null)).isEqualTo(Caller.principal("alice"));
			assertThat(of(() -> "bob")).isEqualTo(Caller.principal("bob"));
			log(UsernamePasswordAuthenticationToken.unauthenticated("alice", "to be checked"));
			assertThat(of(null)).isEqualTo(Caller.ANONYMOUS);
			log(new AnonymousAuthenticationToken("key", "alice", AuthorityUtils.createAuthorityList("ANYBODY")));
			assertThat(of(null)).isEqualTo(Caller.ANONYMOUS);
		}
		finally {
			SecurityContextHolder.clearContext();
		}
	}

	private static void log(Authentication login) {
		SecurityContextHolder.setContext(new SecurityContextImpl(login));
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", " ", "\t" })
	void principalWithoutANameIsRejected(@Nullable String name) {
		assertThatIllegalStateException().isThrownBy(() -> of(() -> name))
			.withMessageContaining("Give it a stable name, or declare a bean of type IdempotencyScopeResolver");
	}

	@Test
	void principalThatIsAPlainObjectIsRejected() {
		Authentication authentication = new UsernamePasswordAuthenticationToken(new AppUser(), "secret", List.of());
		assertThat(authentication.getName()).contains("AppUser@");
		assertThatIllegalStateException().isThrownBy(() -> of(authentication))
			.withMessageContaining("Give it a stable name, or declare a bean of type IdempotencyScopeResolver")
			.withMessageContaining(AppUser.class.getName());
	}

	@Test
	void identityStringOfASuperclassOrOfThePrincipalItselfIsRejected() {
		AppUser proxied = new AppUser() {

			@Override
			public String toString() {
				return AppUser.class.getName() + "@4fcb6aaa";
			}

		};
		assertThatIllegalStateException()
			.isThrownBy(() -> of(new UsernamePasswordAuthenticationToken(proxied, "secret", List.of())));
		assertThatIllegalStateException().isThrownBy(() -> of(new SelfNamed()));
		assertThatIllegalStateException().isThrownBy(() -> of(new SimplySelfNamed()));
		assertThatIllegalStateException()
			.isThrownBy(() -> of(new UsernamePasswordAuthenticationToken(new String[0], "secret", List.of())));
	}

	/** It is new on each request: so would be the caller, and each retry ran. */
	@Test
	void textWithTheIdentityOfAMemberIsRejected() {
		for (Object user : List.of(new Member(7, List.of(new AppUser())), new Member(7, new byte[0]),
				new Member(7, (Runnable) () -> {
				}))) {
			assertThatIllegalStateException()
				.isThrownBy(() -> of(new UsernamePasswordAuthenticationToken(user, "secret", List.of())))
				.withMessageContaining("Give it a stable name, or declare a bean of type IdempotencyScopeResolver")
				.withMessageContaining(Member.class.getName());
		}
	}

	@Test
	void textThatChangesWithItsMembersIsToldOnce() {
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		Logger logger = (Logger) LoggerFactory.getLogger(RequestCallerResolver.class);
		logger.addAppender(log);
		try {
			Member user = new Member(7, "jane.doe@cafe, a@b, java.lang.Object@dead.beef");
			for (Object any : List.of(user, user, new Text("User(id=7)"), "Member[id=7]", new Text("7"))) {
				assertThat(of(new UsernamePasswordAuthenticationToken(any, "secret", List.of())))
					.isEqualTo(Caller.principal(any.toString()));
			}
		}
		finally {
			logger.detachAppender(log);
		}
		assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage)
			.hasSize(2)
			.allMatch((line) -> line.startsWith("[IDEM-304] The name of callers is the toString() of "));
	}

	@ParameterizedTest
	@ValueSource(strings = { "bob@cafe", "AppUser@cafe", "bob@4fcb6aaa", "java.lang.String@4fcb6aax",
			"java.lang.String@", "java.lang.Object@4fcb6aaa", "java.lang.Object" })
	void namesThatOnlyLookLikeItAreNames(String name) {
		assertThat(of(new UsernamePasswordAuthenticationToken(name, "secret", List.of())))
			.isEqualTo(Caller.principal(name));
	}

	@Test
	void oneNameOfTwoIssuersIsTwoCallers() {
		Set<Caller> callers = Set.of(of(token("42", Map.of("iss", "https://a"))),
				of(token("42", Map.of("iss", "https://b"))), of(token("42", Map.of("other", "1"))), of(() -> "42"));
		assertThat(callers).hasSize(4);
		assertThat(of(token("42", Map.of("iss", "https://a")))).isEqualTo(of(token("42", Map.of("iss", "https://a"))));
	}

	@Test
	void oneNameOfTwoRegistrationsIsTwoCallers() {
		assertThat(Set.of(of(login("42", "google")), of(login("42", "github")), of(() -> "42"),
				of(token("42", Map.of("iss", "google")))))
			.hasSize(4);
		assertThat(of(login("42", "google"))).isEqualTo(of(login("42", "google")));
	}

	@Test
	void issuerCountsWhateverTheApplicationMakesOfTheToken() {
		ClaimAccessor a = () -> Map.of("iss", "https://a");
		ClaimAccessor b = () -> Map.of("iss", "https://b");
		assertThat(of(new OwnAuthentication(a))).isNotEqualTo(of(new OwnAuthentication(b)));
		OAuth2AuthenticatedPrincipal c = principal("42", Map.of("iss", "https://a"));
		OAuth2AuthenticatedPrincipal d = principal("42", Map.of("iss", "https://b"));
		assertThat(of(new OwnAuthentication(c))).isNotEqualTo(of(new OwnAuthentication(d)));
	}

	@Test
	void noNameCanBeWrittenThatMeetsACallerOfAnIssuer() {
		Caller vouched = of(token("42", Map.of("iss", "https://a")));
		assertThat(of(vouched::name)).isNotEqualTo(vouched);
		assertThat(of(token("a", Map.of("iss", "1:b")))).isNotEqualTo(of(token("a1:b", Map.of("iss", ""))));
	}

	@Test
	void headersOfTheConfigurationArePartOfTheCaller() {
		WebMvcCallerResolver tenants = callers(ScopeMode.PRINCIPAL, Set.of("X-Tenant", "X-Unit"));
		Set<Caller> all = Set.of(of(tenants, "x-tenant", "a"), of(tenants, "x-tenant", "b"),
				of(tenants, "x-tenant", ""), of(tenants, "x-tenant"), of(tenants, "x-tenant", "a", "b"),
				of(tenants, "x-unit", "a"), of(() -> "alice"));
		assertThat(all).hasSize(7);
		assertThat(of(tenants, "X-TENANT", "a")).isEqualTo(of(tenants, "x-tenant", "a"));
	}

	@Test
	void headersTellAnonymousCallersAndNobodysKeysApartToo() {
		WebMvcCallerResolver global = callers(ScopeMode.GLOBAL, Set.of("X-Tenant"));
		assertThat(of(global, "X-Tenant", "a")).isNotEqualTo(of(global, "X-Tenant", "b"))
			.isNotEqualTo(of(callers(ScopeMode.PRINCIPAL, Set.of("X-Tenant")), "X-Tenant", "a"));
		assertThat(callers(ScopeMode.GLOBAL, Set.of()).of(new MockHttpServletRequest())).isEqualTo(Caller.GLOBAL);
	}

	/** The names are part of stored keys: another one makes retries run again. */
	@Test
	void nameThatIsPartOfAKeyNeverChanges() {
		assertThat(of(token("42", Map.of("iss", "https://a"))))
			.isEqualTo(new Caller(Caller.Kind.QUALIFIED, "9:PRINCIPAL2:426:issuer9:https://a"));
		assertThat(of(token("42", Map.of("other", "1"))))
			.isEqualTo(new Caller(Caller.Kind.QUALIFIED, "9:PRINCIPAL2:426:issuer"));
		assertThat(of(login("42", "google")))
			.isEqualTo(new Caller(Caller.Kind.QUALIFIED, "9:PRINCIPAL2:4212:registration6:google"));
		WebMvcCallerResolver tenants = callers(ScopeMode.PRINCIPAL, Set.of("X-Unit", "X-Tenant"));
		assertThat(of(tenants, "X-TENANT", "a", "b")).isEqualTo(new Caller(Caller.Kind.QUALIFIED,
				"9:QUALIFIED42:9:PRINCIPAL5:alice15:header x-tenant1:a1:b13:header x-unit"));
		assertThat(callers(ScopeMode.GLOBAL, Set.of("X-Unit")).of(new MockHttpServletRequest()))
			.isEqualTo(new Caller(Caller.Kind.QUALIFIED, "6:GLOBAL0:13:header x-unit"));
	}

	@Test
	void resolverReplacesAllOfIt() {
		WebMvcCallerResolver resolved = new WebMvcCallerResolver(
				settings(ScopeMode.PRINCIPAL, Set.of("X-Tenant"), false), (request) -> "t1");
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.setUserPrincipal(() -> " ");
		request.addHeader("X-Tenant", "a");
		assertThat(resolved.of(request)).isEqualTo(Caller.scope("t1"));
	}

	@Test
	void requestWithoutAPrincipalHasNoOwnerIfAnonymousCallersAreRejected() {
		HttpSettings rejecting = settings(ScopeMode.PRINCIPAL, Set.of("X-Tenant"), true);
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.addHeader("X-Tenant", "a");
		WebMvcCallerResolver named = new WebMvcCallerResolver(rejecting, null);
		assertThatExceptionOfType(IdempotencyCallerUnknownException.class).isThrownBy(() -> named.owner(request, "pay"))
			.satisfies((ex) -> assertThat(ex.retry()).isEqualTo(RetryAdvice.FIX_REQUEST));
		assertThat(named.of(request)).isEqualTo(callers(ScopeMode.PRINCIPAL, Set.of("X-Tenant")).of(request));
		assertThat(new WebMvcCallerResolver(rejecting, (any) -> "t1").owner(request, "pay"))
			.isEqualTo(Caller.scope("t1"));
		request.setUserPrincipal(() -> "alice");
		assertThat(named.owner(request, "pay")).isEqualTo(named.of(request));
	}

	private static WebMvcCallerResolver callers(ScopeMode mode, Set<String> scopeHeaders) {
		return new WebMvcCallerResolver(settings(mode, scopeHeaders, false), null);
	}

	private static HttpSettings settings(ScopeMode mode, Set<String> scopeHeaders, boolean anonymousRejected) {
		return new HttpSettings("Idempotent-Replayed", 1 << 20, 1 << 20, HttpSettings.DEFAULTS.releaseOn(), Set.of(),
				false, mode, anonymousRejected, scopeHeaders, Set.of(), Set.of(), "urn:idempotency:", null,
				"/idempotency/tokens");
	}

	private Caller of(@Nullable Principal principal) {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.setUserPrincipal(principal);
		return this.callers.of(request);
	}

	private static Caller of(WebMvcCallerResolver callers, String header, String... values) {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.setUserPrincipal(() -> "alice");
		for (String value : values) {
			request.addHeader(header, value);
		}
		return callers.of(request);
	}

	private static Authentication token(String name, Map<String, Object> attributes) {
		OAuth2AccessToken token = new OAuth2AccessToken(OAuth2AccessToken.TokenType.BEARER, "t", Instant.EPOCH,
				Instant.MAX);
		return new BearerTokenAuthentication(principal(name, attributes), token, List.of());
	}

	private static OAuth2AuthenticatedPrincipal principal(String name, Map<String, Object> attributes) {
		return new DefaultOAuth2AuthenticatedPrincipal(name, attributes, List.of());
	}

	private static Authentication login(String name, String registration) {
		return new OAuth2AuthenticationToken(new DefaultOAuth2User(List.of(), Map.of("id", name), "id"), List.of(),
				registration);
	}

	private static class AppUser {

	}

	private record Member(long id, Object more) {

	}

	private record Text(String text) {

		@Override
		public String toString() {
			return this.text;
		}

	}

	private static final class SelfNamed implements Principal {

		@Override
		public String getName() {
			return super.toString();
		}

	}

	private static final class SimplySelfNamed implements Principal {

		@Override
		public String getName() {
			return getClass().getSimpleName() + "@" + Integer.toHexString(hashCode());
		}

	}

	/** As an application makes one of a token, with a name of its own. */
	private static final class OwnAuthentication extends AbstractAuthenticationToken {

		private static final long serialVersionUID = 1L;

		private final transient Object principal;

		OwnAuthentication(Object principal) {
			super(List.of());
			this.principal = principal;
		}

		@Override
		public String getName() {
			return "42";
		}

		@Override
		public Object getCredentials() {
			return "";
		}

		@Override
		public Object getPrincipal() {
			return this.principal;
		}

	}

}
