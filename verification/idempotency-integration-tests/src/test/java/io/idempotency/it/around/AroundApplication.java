package io.idempotency.it.around;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.MethodParameter;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** Handlers with all that an application may put around them; each counts its calls. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({ AroundApplication.Handlers.class, AroundApplication.CatchAllAspect.class, AroundApplication.RetryAspect.class,
		AroundApplication.CatchAllHandler.class, AroundApplication.Wrapping.class,
		AroundApplication.Interceptor.class })
class AroundApplication {

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.build();
	}

	/** Not for all: it drops the length that an answer to HEAD declares. */
	@Bean
	FilterRegistrationBean<ShallowEtagHeaderFilter> etag() {
		FilterRegistrationBean<ShallowEtagHeaderFilter> filter = new FilterRegistrationBean<>(
				new ShallowEtagHeaderFilter());
		filter.addUrlPatterns("/around/etag");
		return filter;
	}

	@Bean
	Calls calls() {
		return new Calls();
	}

	@Bean
	WebMvcConfigurer interceptors(Interceptor interceptor) {
		return new WebMvcConfigurer() {

			@Override
			public void addInterceptors(InterceptorRegistry registry) {
				registry.addInterceptor(interceptor);
			}

		};
	}

	/** How often each of them was called. */
	static final class Calls {

		private final Map<String, Integer> counts = new ConcurrentHashMap<>();

		void add(String what) {
			this.counts.merge(what, 1, Integer::sum);
		}

		int of(String what) {
			return this.counts.getOrDefault(what, 0);
		}

		void forget() {
			this.counts.clear();
		}

	}

	@RestController
	static class Handlers {

		private final Calls calls;

		Handlers(Calls calls) {
			this.calls = calls;
		}

		@Idempotent
		@GetMapping("/around/etag")
		public String etag() {
			return run();
		}

		@Idempotent
		@PostMapping("/around/long")
		public String text() {
			return run() + " and a long text ".repeat(200);
		}

		@Idempotent
		@RequestMapping(path = "/around/head", method = RequestMethod.HEAD)
		public ResponseEntity<Void> head() {
			return ResponseEntity.ok().header("X-Run", run()).contentLength(17).build();
		}

		@Idempotent
		@GetMapping("/around/not-modified")
		public ResponseEntity<Void> notModified() {
			return ResponseEntity.status(HttpStatus.NOT_MODIFIED).eTag("\"" + run() + "\"").build();
		}

		@Idempotent
		@PostMapping("/around/caught")
		public String caught() {
			return run();
		}

		@Idempotent
		@PostMapping("/around/handled")
		public String handled() {
			throw new IllegalArgumentException(run());
		}

		@Idempotent
		@PostMapping("/around/again/{form}")
		public Object again(@PathVariable String form) throws Exception {
			String run = attempt(form);
			return switch (form) {
				case "large" -> run.repeat(300_000);
				case "broken" -> ResponseEntity.ok().build();
				case "callable" -> (Callable<String>) () -> run;
				case "deferred" -> {
					DeferredResult<String> result = new DeferredResult<>();
					CompletableFuture.runAsync(() -> result.setResult(run));
					yield result;
				}
				case "body" -> (StreamingResponseBody) (out) -> out.write(run.getBytes(StandardCharsets.UTF_8));
				case "emitter" -> {
					SseEmitter emitter = new SseEmitter();
					emitter.send(run);
					emitter.complete();
					yield emitter;
				}
				default -> run;
			};
		}

		@Idempotent
		@PostMapping("/around/again/future")
		public CompletableFuture<String> againLater() throws Exception {
			String run = attempt("future");
			return CompletableFuture.supplyAsync(() -> run);
		}

		/** Fails at the first attempt. */
		private String attempt(String form) throws Exception {
			String run = run();
			if (IdempotencyContext.current().isPresent()) {
				this.calls.add("guarded");
			}
			if (!run.equals("run 1")) {
				return run;
			}
			throw switch (form) {
				case "rejected" -> new IdempotencyInProgressException("inner", Duration.ofSeconds(1));
				case "broken" -> new IOException("Broken pipe");
				case "released" -> new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE);
				default -> new IllegalStateException("The first attempt fails");
			};
		}

		private String run() {
			this.calls.add("run");
			return "run " + this.calls.of("run");
		}

	}

	/** Takes every exception for a failure, as some applications do. */
	@Aspect
	@Component
	@Order(Ordered.HIGHEST_PRECEDENCE)
	static class CatchAllAspect {

		private final Calls calls;

		CatchAllAspect(Calls calls) {
			this.calls = calls;
		}

		@Around("execution(* io.idempotency.it.around.AroundApplication.Handlers.caught(..))")
		@Nullable Object around(ProceedingJoinPoint call) throws Throwable {
			try {
				return call.proceed();
			}
			catch (Throwable ex) {
				this.calls.add("aspect caught");
				return "swallowed";
			}
		}

	}

	/** Calls a handler that failed once more, outside the guard. */
	@Aspect
	@Component
	@Order(Ordered.HIGHEST_PRECEDENCE)
	static class RetryAspect {

		@Around("execution(* io.idempotency.it.around.AroundApplication.Handlers.again*(..))")
		@Nullable Object around(ProceedingJoinPoint call) throws Throwable {
			try {
				return call.proceed();
			}
			catch (Exception ex) {
				return call.proceed();
			}
		}

	}

	@RestControllerAdvice
	static class CatchAllHandler {

		private final Calls calls;

		CatchAllHandler(Calls calls) {
			this.calls = calls;
		}

		@ExceptionHandler(Throwable.class)
		ResponseEntity<String> handle(Throwable thrown) {
			this.calls.add("handler");
			return ResponseEntity.status(HttpStatus.UNPROCESSABLE_ENTITY).body("handled " + thrown.getMessage());
		}

	}

	@RestControllerAdvice
	static class Wrapping implements ResponseBodyAdvice<Object> {

		private final Calls calls;

		Wrapping(Calls calls) {
			this.calls = calls;
		}

		@Override
		public boolean supports(MethodParameter returnType, Class<? extends HttpMessageConverter<?>> converterType) {
			return true;
		}

		@Override
		public @Nullable Object beforeBodyWrite(@Nullable Object body, MethodParameter returnType,
				MediaType selectedContentType, Class<? extends HttpMessageConverter<?>> selectedConverterType,
				ServerHttpRequest request, ServerHttpResponse response) {
			this.calls.add("body advice");
			response.getHeaders().add(HttpHeaders.LINK, "</terms>; rel=license");
			return (body instanceof String text) ? "[" + text + "]" : body;
		}

	}

	@Component
	static class Interceptor implements HandlerInterceptor {

		private final Calls calls;

		Interceptor(Calls calls) {
			this.calls = calls;
		}

		@Override
		public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
			this.calls.add("preHandle");
			return true;
		}

		@Override
		public void postHandle(HttpServletRequest request, HttpServletResponse response, Object handler,
				@Nullable ModelAndView modelAndView) {
			this.calls.add("postHandle");
		}

		@Override
		public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler,
				@Nullable Exception ex) {
			this.calls.add("afterCompletion");
		}

	}

}
