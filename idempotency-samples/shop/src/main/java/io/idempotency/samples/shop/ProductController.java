package io.idempotency.samples.shop;

import java.util.List;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/products")
class ProductController {

	private final Products products;

	ProductController(Products products) {
		this.products = products;
	}

	@GetMapping
	List<Product> list() {
		return this.products.all();
	}

}
