package io.idempotency.it.webflux;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.reactive.result.view.Rendering;
import org.springframework.web.reactive.result.view.View;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ServerWebExchange;

import static io.idempotency.it.webflux.OrdersController.run;

/** Guarded handlers whose answers are views. */
@Controller
class ViewsController {

	@Idempotent
	@PostMapping("/view-name")
	Mono<String> name(Model model) {
		return Mono.fromCallable(() -> {
			model.addAttribute("run", run("view-name"));
			return "receipt";

		});
	}

	@Idempotent
	@PostMapping("/view-name-later")
	@ResponseStatus(HttpStatus.ACCEPTED)
	Mono<String> nameLater(Model model) {
		return Mono.fromSupplier(() -> {
			model.addAttribute("run", run("view-name-later"));
			return "receipt";
		});
	}

	@Idempotent
	@PostMapping("/rendering")
	Mono<Rendering> rendering() {
		return Mono.fromCallable(() -> {
			return Rendering.view("receipt")
				.status(HttpStatus.ACCEPTED)
				.header("X-Run", "r")
				.modelAttribute("run", run("rendering"))
				.build();

		});
	}

	@Idempotent
	@PostMapping("/rendering-later")
	Mono<Rendering> renderingLater() {
		return Mono.fromSupplier(() -> Rendering.view("receipt").modelAttribute("run", run("rendering-later")).build());
	}

	@Idempotent
	@PostMapping("/redirect")
	Mono<Rendering> redirect() {
		return Mono.fromSupplier(
				() -> Rendering.redirectTo("/receipts/" + run("redirect")).status(HttpStatus.SEE_OTHER).build());
	}

	@Idempotent
	@PostMapping("/redirect-name")
	Mono<String> redirectName() {
		return Mono.fromCallable(() -> {
			return "redirect:/receipts/" + run("redirect-name");

		});
	}

	@Idempotent
	@PostMapping("/default-view")
	Mono<Void> defaultView(Model model) {
		return Mono.fromRunnable(() -> {
			model.addAttribute("run", run("default-view"));

		});
	}

	@Idempotent
	@PostMapping("/default-view-later")
	Mono<Void> defaultViewLater(Model model) {
		return Mono.fromRunnable(() -> model.addAttribute("run", run("default-view-later")));
	}

	@Idempotent
	@PostMapping("/view")
	Mono<View> view() {
		return Mono.fromCallable(() -> {
			return new Receipt("run " + run("view"));

		});
	}

	@Idempotent
	@PostMapping("/model")
	Mono<Map<String, Object>> model() {
		return Mono.fromCallable(() -> {
			return Map.of("run", run("model"));

		});
	}

	@Idempotent
	@PostMapping("/model-attribute")
	@ModelAttribute("run")
	Mono<Integer> modelAttribute() {
		return Mono.fromSupplier(() -> run("model-attribute"));
	}

	@Idempotent
	@PostMapping("/broken-view")
	Mono<String> brokenView() {
		return Mono.fromCallable(() -> {
			run("broken-view");
			return "broken";

		});
	}

	/** Resolves every name, before any other resolver. */
	static class Views implements ViewResolver, Ordered {

		@Override
		public Mono<View> resolveViewName(String name, Locale locale) {
			return Mono.just(new Receipt(name));
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

	}

	private record Receipt(String name) implements View {

		@Override
		public List<MediaType> getSupportedMediaTypes() {
			return List.of(MediaType.TEXT_HTML);
		}

		@Override
		public Mono<Void> render(@Nullable Map<String, ?> model, @Nullable MediaType contentType,
				ServerWebExchange exchange) {
			if (this.name.equals("broken")) {
				return Mono.error(new IllegalStateException("The view is broken"));
			}
			String text = this.name + " " + ((model != null) ? model.get("run") : null);
			exchange.getResponse().getHeaders().setContentType(MediaType.TEXT_HTML);
			return exchange.getResponse()
				.writeWith(Mono.fromSupplier(
						() -> exchange.getResponse().bufferFactory().wrap(text.getBytes(StandardCharsets.UTF_8))));
		}

	}

}
