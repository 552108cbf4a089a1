package io.idempotency.it.early;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.it.scenarios.Rights;
import io.idempotency.it.scenarios.Rights.Body;
import io.idempotency.it.scenarios.Rights.ByOwner;
import io.idempotency.it.scenarios.Rights.Checked;
import io.idempotency.it.scenarios.Rights.Tenant;
import io.idempotency.it.scenarios.Rights.Voucher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.validation.Valid;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdviceAdapter;

/**
 * Handlers whose callers may lose their rights, which is found out in every place where
 * an application may do so.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableMethodSecurity
@Import({ EarlyApplication.Handlers.class, EarlyApplication.Modelled.class, EarlyApplication.Advised.class,
		Rights.class, EarlyApplication.RightsAspect.class, EarlyApplication.RightsModel.class,
		EarlyApplication.RightsBody.class, EarlyApplication.Mvc.class })
class EarlyApplication {

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.build();
	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@interface NeedsRights {

	}

	@RestController
	static class Handlers {

		private final AtomicInteger runs = new AtomicInteger();

		private String run() {
			return "run " + this.runs.incrementAndGet();
		}

		@Idempotent
		@PostMapping("/early/plain")
		public String plain(@RequestBody Body body) {
			return run();
		}

		@Idempotent(fingerprint = "none")
		@PostMapping("/early/not-compared")
		public String notCompared() {
			return run();
		}

		@Idempotent
		@PostMapping("/early/intercepted")
		public String intercepted(@RequestBody Body body) {
			return run();
		}

		@Idempotent
		@NeedsRights
		@PostMapping("/early/aspect")
		public String aspect(@RequestBody Body body) {
			return run();
		}

		@Idempotent
		@PreAuthorize("@rights.check()")
		@PostMapping("/early/method-security")
		public String methodSecurity(@RequestBody Body body) {
			return run();
		}

		@Idempotent
		@PostMapping("/early/resolver")
		public String resolver(Tenant tenant) {
			return run();
		}

		@Idempotent
		@PostMapping("/early/voucher")
		public String voucher(@RequestParam(defaultValue = "v") Voucher voucher) {
			return run();
		}

		@Idempotent
		@PostMapping("/early/vouchers")
		public String vouchers(@RequestParam(defaultValue = "v") List<Voucher> vouchers) {
			return run();
		}

		@Idempotent
		@PostMapping("/early/optional-voucher")
		public String optionalVoucher(@RequestParam(defaultValue = "v") Optional<Voucher> voucher) {
			return run();
		}

		@Idempotent
		@PostMapping("/early/validated")
		public String validated(@Valid @RequestBody Checked body) {
			return run();
		}

		@Idempotent
		@PostMapping("/early/validated-elements")
		public String validatedElements(@RequestBody List<@ByOwner String> body) {
			return run();
		}

		@Idempotent(condition = "@rights.check()")
		@PostMapping("/early/condition")
		public String condition(@RequestBody Body body) {
			return run();
		}

	}

	@RestController
	static class Modelled {

		@Idempotent
		@PostMapping("/early/model")
		public String model(@RequestBody Body body) {
			return "modelled";
		}

	}

	@RestController
	static class Advised {

		@Idempotent
		@PostMapping("/early/body-advice")
		public String advised(@RequestBody Body body) {
			return "advised";
		}

	}

	@Aspect
	@Order(0)
	@Component
	static class RightsAspect {

		private final Rights rights;

		RightsAspect(Rights rights) {
			this.rights = rights;
		}

		@Before("@annotation(io.idempotency.it.early.EarlyApplication.NeedsRights)")
		void check() {
			this.rights.require();
		}

	}

	@RestControllerAdvice(assignableTypes = Modelled.class)
	static class RightsModel {

		private final Rights rights;

		RightsModel(Rights rights) {
			this.rights = rights;
		}

		@ModelAttribute
		void check() {
			this.rights.require();
		}

	}

	@RestControllerAdvice(assignableTypes = Advised.class)
	static class RightsBody extends RequestBodyAdviceAdapter {

		private final Rights rights;

		RightsBody(Rights rights) {
			this.rights = rights;
		}

		@Override
		public boolean supports(MethodParameter parameter, Type type,
				Class<? extends HttpMessageConverter<?>> converter) {
			return true;
		}

		@Override
		public HttpInputMessage beforeBodyRead(HttpInputMessage message, MethodParameter parameter, Type type,
				Class<? extends HttpMessageConverter<?>> converter) throws IOException {
			this.rights.require();
			return message;
		}

	}

	/** For all: what is between the interceptors and the handler, and interceptors. */
	@Component
	static class Mvc implements WebMvcConfigurer, HandlerInterceptor, HandlerMethodArgumentResolver {

		private final Rights rights;

		Mvc(Rights rights) {
			this.rights = rights;
		}

		@Override
		public void addInterceptors(InterceptorRegistry registry) {
			registry.addInterceptor(this).addPathPatterns("/early/intercepted");
		}

		@Override
		public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
			this.rights.require();
			return true;
		}

		@Override
		public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
			resolvers.add(this);
		}

		@Override
		public boolean supportsParameter(MethodParameter parameter) {
			return parameter.getParameterType() == Tenant.class;
		}

		@Override
		public Object resolveArgument(MethodParameter parameter, ModelAndViewContainer container,
				NativeWebRequest request, WebDataBinderFactory binders) {
			this.rights.require();
			return new Tenant("tenant");
		}

	}

}
